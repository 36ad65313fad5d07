"""Execute the cells of a notebook, given as JSON on stdin; write their outputs as JSON to stdout.

A program of its own, since the tools leave sockets and loops behind.
"""

import json
import sys

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient


class Kernel(AsyncKernelManager):
    """A kernel of this Python, whatever kernels the user has registered."""

    def format_kernel_cmd(self, extra_arguments=None):
        return [sys.executable, "-m", "ipykernel_launcher", "-f", self.connection_file]


notebook = nbformat.v4.new_notebook()
notebook.cells = [nbformat.v4.new_code_cell(source) for source in json.load(sys.stdin)]
resources = {"metadata": {"path": sys.argv[1]}}
NotebookClient(notebook, km=Kernel(), timeout=600, resources=resources).execute()
json.dump([cell.outputs for cell in notebook.cells], sys.stdout)
