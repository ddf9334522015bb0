"""Routing: which model, solver or tool should handle a request, where every outcome is a paid run."""

from coalface.routing.router import Router
from coalface.routing.trade_off import Routes, TradeOff

__all__ = ["Router", "Routes", "TradeOff"]
