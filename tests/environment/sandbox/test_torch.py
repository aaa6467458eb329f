"""What torch needs of a sandbox: threads, workers, shared memory, sockets."""

from pathlib import Path

import pytest

from mlagentbench.environment.agent_env import find_agent_env
from mlagentbench.environment.sandbox.sandbox import SandboxSpec, open_sandbox
from mlagentbench.environment.sandbox.sandbox_spec import Limits

pytestmark = pytest.mark.anyio

TRAIN = """
import torch
import torch.distributed as dist
from safetensors.torch import save_file
from tokenizers import Tokenizer, models
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(256, 20)
    data = TensorDataset(x, (x.sum(1) > 0).long())
    net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2))
    steps = torch.optim.Adam(net.parameters())
    for a, b in DataLoader(data, batch_size=64, num_workers=1):
        steps.zero_grad()
        nn.functional.cross_entropy(net(a), b).backward()
        steps.step()
    torch.set_num_threads(2)
    assert torch.isfinite(torch.randn(300, 300) @ torch.randn(300, 300)).all()
    save_file(net.state_dict(), "model.safetensors")
    Tokenizer(models.BPE()).train_from_iterator(["a b c"] * 10)
    dist.init_process_group("gloo", init_method="file:///tmp/g", rank=0, world_size=1)
    total = torch.ones(3)
    dist.all_reduce(total)
    print(total.tolist())
"""


async def test_a_network_is_trained_with_workers_and_collectives(cache, sandboxes):
    built = find_agent_env(cache, "torch")
    if built is None:
        pytest.skip("the torch environment is not built; a torch task builds it")
    sandbox = open_sandbox(sandboxes, SandboxSpec(agent_env=Path(built.path)), Limits())
    try:
        sandbox.write("train.py", TRAIN.encode())
        done = await sandbox.execute(["python", "train.py"], timeout=300)
    finally:
        sandbox.close()
    assert done.stdout.strip() == b"[1.0, 1.0, 1.0]", done.stderr
