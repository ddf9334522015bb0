"""A labelling project on disk: settings, pool, archive, exports."""
