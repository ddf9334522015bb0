"""Routing: which model, solver or tool should handle a request, where every outcome is a paid run."""

from coalface.routing.router import Router
from coalface.routing.routes import Routes
from coalface.routing.trade_off import TradeOff

__all__ = ["Router", "Routes", "TradeOff"]
