"""The real stages: this compiler, this search."""

from compiler.frontend.bundle import import_model, load_bundle
from compiler.pipeline import compile_design
from compiler.simulator.csim.run import csim
from dse.explore import search
from worker.stages import Stages

STAGES = Stages(lower=import_model, load=load_bundle, search=search, compile=compile_design, csim=csim)
