"""The real stages: this compiler, this search."""

from compiler.frontend.bundle import import_model
from compiler.pipeline import compile_design
from compiler.simulator.csim.run import csim
from dse.explore import search
from worker.stages import Stages

STAGES = Stages(lower=import_model, search=search, compile=compile_design, csim=csim)
