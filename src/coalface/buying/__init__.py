"""Buying costs: where answers come from.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.buying.calls import CALLED, CALLING, CallBook, Calls
    from coalface.buying.oracles.chat import DEFAULT_URL, ChatEndpoint
    from coalface.buying.oracles.judge import Judge, Patience, Prices, form_of, messages_about, model_in
    from coalface.buying.oracles.programs import (
        Annotator,
        AnnotatorError,
        NoAnswerError,
        RunEndedError,
        annotator_of,
        reply_of,
    )
    from coalface.buying.oracles.prompts import Prompt
    from coalface.buying.oracles.rates import Rates
    from coalface.buying.oracles.reply_forms import CostForm, InvalidReplyError, TruthForm
else:
    __getattr__, __dir__ = door_of(__name__)

__all__ = [
    "CALLED",
    "CALLING",
    "DEFAULT_URL",
    "Annotator",
    "AnnotatorError",
    "CallBook",
    "Calls",
    "ChatEndpoint",
    "CostForm",
    "InvalidReplyError",
    "Judge",
    "NoAnswerError",
    "Patience",
    "Prices",
    "Prompt",
    "Rates",
    "RunEndedError",
    "TruthForm",
    "annotator_of",
    "form_of",
    "messages_about",
    "model_in",
    "reply_of",
]
