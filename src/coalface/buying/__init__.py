"""Buying costs: where answers come from.

What products and the command line use; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.buying.calls import CALLED as CALLED, CALLING as CALLING, CallBook as CallBook, Calls as Calls
    from coalface.buying.oracles.chat import ChatEndpoint as ChatEndpoint, DEFAULT_URL as DEFAULT_URL
    from coalface.buying.oracles.judge import Judge as Judge, Patience as Patience, Prices as Prices, form_of as form_of
    from coalface.buying.oracles.judge import messages_about as messages_about, model_in as model_in
    from coalface.buying.oracles.programs import Annotator as Annotator, AnnotatorError as AnnotatorError
    from coalface.buying.oracles.programs import NoAnswerError as NoAnswerError, RunEndedError as RunEndedError
    from coalface.buying.oracles.programs import annotator_of as annotator_of, reply_of as reply_of
    from coalface.buying.oracles.prompts import Prompt as Prompt
    from coalface.buying.oracles.rates import Rates as Rates
    from coalface.buying.oracles.reply_forms import CostForm as CostForm, InvalidReplyError as InvalidReplyError
    from coalface.buying.oracles.reply_forms import TruthForm as TruthForm
else:
    __getattr__, __dir__ = door_of(__name__)
