"""The labelling service: a desk that hands out questions and takes answers, and the pages where people give them."""
