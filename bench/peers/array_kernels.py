"""NumPy, numexpr and PyTorch on the arrays of `shoal-bench kernels`, in turns with it.

Started by `shoal-bench`, which sends a line for everything that is to be done and waits for the
answer, a JSON object after "done " or a text after "error ". Arrays pass through a file that both
have mapped; the libraries then work on arrays that NumPy allocated.

  load NAME DTYPE COUNT   copies what lies in the file to the input x or y
  case NAME               makes ready what this case needs: {"subjects": [...]}, who can do it
  run SUBJECT CALLS       {"seconds": of one call}
  result SUBJECT          copies the last result to the file: {"dtype": ..., "count": ...}
  drop                    frees all arrays

Until it is asked for anything, it prints `ready {...}`: the versions of what can be imported.
"""

import argparse
import gc
import importlib
import json
import platform
import sys
import time

import numpy as np

A = 2.5  # The parameter `a` of programs.
# Other threads spin for a while after their last work and would disturb whose turn is next.
SETTLE_S = 0.03

# For each case: as NumPy is mostly written; with every result and intermediate in memory that is
# there already (`out`, `t`); numexpr; PyTorch, with `out` where it has such. None: it has no such
# thing, or none that means the same.
CASES = {
    "copy": ("x.copy()", "np.copyto(out, x)", "x", "out.copy_(x)"),
    "add": ("x + y", "np.add(x, y, out=out)", "x + y", "torch.add(x, y, out=out)"),
    "multiply": ("x * y", "np.multiply(x, y, out=out)", "x * y", "torch.mul(x, y, out=out)"),
    "divide": ("x / y", "np.divide(x, y, out=out)", "x / y", "torch.div(x, y, out=out)"),
    "sqrt": ("np.sqrt(x)", "np.sqrt(x, out=out)", "sqrt(x)", "torch.sqrt(x, out=out)"),
    "axpy": ("a*x + y", "np.multiply(x, a, out=out); np.add(out, y, out=out)", "a*x + y",
             "torch.add(y, x, alpha=2.5, out=out)"),
    "hypot": ("np.sqrt(x*x + y*y)",
              "np.multiply(x, x, out=out); np.multiply(y, y, out=t); np.add(out, t, out=out); "
              "np.sqrt(out, out=out)", "sqrt(x*x + y*y)",
              "torch.mul(x, x, out=out); out.addcmul_(y, y); out.sqrt_()"),
    "cubic": ("x*x*x - 2*x + 1",
              "np.multiply(x, x, out=out); np.multiply(out, x, out=out); "
              "np.multiply(x, 2, out=t); np.subtract(out, t, out=out); np.add(out, 1, out=out)",
              "x*x*x - 2*x + 1",
              "torch.mul(x, x, out=out); out.mul_(x); out.sub_(x, alpha=2); out.add_(1)"),
    "rint": ("np.rint(x)", "np.rint(x, out=out)", None, "torch.round(x, out=out)"),
    "where": ("np.where(x > y, x, y)",
              "np.greater(x, y, out=m); np.copyto(out, y); np.copyto(out, x, where=m)",
              "where(x > y, x, y)", "torch.where(x > y, x, y, out=out)"),
    "maximum": ("np.maximum(x, y)", "np.maximum(x, y, out=out)", None,
                "torch.maximum(x, y, out=out)"),
    "greater": ("x > y", "np.greater(x, y, out=out)", "x > y", "torch.gt(x, y, out=out)"),
    "both": ("(x > 0) & (y > 0)",
             "np.greater(x, 0, out=out); np.greater(y, 0, out=m); np.logical_and(out, m, out=out)",
             "(x > 0) & (y > 0)",
             "torch.gt(x, 0, out=out); out.logical_and_(y > 0)"),
    "floor_divide": ("x // y", "np.floor_divide(x, y, out=out)", None,
                     "torch.floor_divide(x, y, out=out)"),
    "remainder": ("x % y", "np.remainder(x, y, out=out)", None, "torch.remainder(x, y, out=out)"),
    "to_float64": ("x.astype(np.float64)", "np.copyto(out, x, casting='unsafe')", "x",
                   "out.copy_(x)"),
    "to_float32": ("x.astype(np.float32)", "np.copyto(out, x, casting='unsafe')", "x",
                   "out.copy_(x)"),
    "to_int32": ("x.astype(np.int32)", "np.copyto(out, x, casting='unsafe')", "x",
                 "out.copy_(x)"),
    "sum": ("np.sum(x)", None, "sum(x)", "torch.sum(x)"),
    "dot": ("np.dot(x, y)", None, "sum(x*y)", "torch.dot(x, y)"),
    "sum_of_products": ("np.sum(x*y)", "np.multiply(x, y, out=t); result = np.sum(t)", "sum(x*y)",
                        "torch.sum(x*y)"),
    "mean": ("np.mean(x)", None, None, "torch.mean(x)"),
    "norm": ("np.linalg.norm(x)", None, None, "torch.linalg.vector_norm(x)"),
    "std": ("np.std(x)", None, None, "torch.std(x, correction=0)"),
    "sort": ("np.sort(x)", "np.copyto(out, x); out.sort()", None, "torch.sort(x)[0]"),
    "exp": ("np.exp(-x*x)",
            "np.negative(x, out=out); np.multiply(out, x, out=out); np.exp(out, out=out)",
            "exp(-x*x)", "torch.mul(x, x, out=out); out.neg_(); out.exp_()"),
    "sin": ("np.sin(x)", "np.sin(x, out=out)", "sin(x)", "torch.sin(x, out=out)"),
    "log": ("np.log(x)", "np.log(x, out=out)", "log(x)", "torch.log(x, out=out)"),
    "tanh": ("np.tanh(x)", "np.tanh(x, out=out)", "tanh(x)", "torch.tanh(x, out=out)"),
    "power": ("x**y", "np.power(x, y, out=out)", "x**y", "torch.pow(x, y, out=out)"),
    "erf": (None, None, None, "torch.erf(x, out=out)"),
}
COLUMNS = {"numpy": 0, "numpy_out": 1, "numexpr": 2, "torch": 3}
BLAS_CASES = {"dot", "norm"}


def imported(name):
    """The module, or None where there is none that works."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Subject:
    """One library's way to do a case: `call` does it once and returns the result."""

    def __init__(self, call):
        self.call = call
        self.result = call()  # What cannot be done fails here.

    def burst(self, calls):
        call = self.call
        result = call()  # Not timed: what other subjects left in the caches is gone.
        begin = time.perf_counter()
        for _ in range(calls):
            result = call()
        seconds = time.perf_counter() - begin
        self.result = result
        return seconds / calls


def compiled(text, names, returned):
    """Statements as a function of no arguments that returns the variable `returned`.

    The names are defaults of parameters, so that none costs a look into a dictionary.
    """
    parameters = ", ".join(f"{name}={name}" for name in names)
    source = f"def call({parameters}, result=None):\n    {text}\n    return {returned}\n"
    scope = dict(names)
    exec(source, scope)  # The texts are those above, nobody else's.
    return scope.pop("call")  # Left there it would hold itself, and its arrays, for ever.


class Libraries:
    def __init__(self, threads):
        self.numexpr = imported("numexpr")
        self.torch = imported("torch")
        if self.numexpr is not None:
            self.numexpr.set_num_threads(threads)
        if self.torch is not None:
            self.torch.set_num_threads(threads)
        self.threads = threads

    def versions(self):
        found = {"python": platform.python_version(), "numpy": np.__version__}
        for name in ("numexpr", "torch"):
            module = getattr(self, name)
            found[name] = module and module.__version__
        return found

    def make(self, subject, text, inputs, like):
        """The subject's call; `like` is an array as the result will be, or a scalar."""
        if subject == "numexpr":
            return self.make_numexpr(text, inputs, like)
        out = np.empty_like(like) if isinstance(like, np.ndarray) else None
        if subject == "torch":
            return self.make_torch(text, inputs, out)
        names = dict(inputs, np=np, a=inputs["x"].dtype.type(A), out=out)
        if subject == "numpy":
            return compiled(f"result = {text}", names, "result")
        names["t"] = np.empty_like(inputs["x"])
        names["m"] = np.empty(inputs["x"].shape, bool)
        return compiled(text, names, "result" if "result" in text else "out")

    def make_numexpr(self, text, inputs, like):
        numexpr = self.numexpr
        names = dict(inputs)
        if "a*" in text:
            names["a"] = np.array(A, inputs["x"].dtype)  # A Python number would be a double.
        out = None if "sum(" in text else np.empty_like(like)

        def first():
            # evaluate() compiles, and keeps what the following calls then repeat.
            return numexpr.evaluate(text, local_dict=names, out=out, casting="unsafe")

        first()
        again = numexpr.re_evaluate
        call = lambda: again(local_dict=names)
        call.first = first
        return call

    def make_torch(self, text, inputs, out):
        torch = self.torch
        names = {name: torch.from_numpy(array) for name, array in inputs.items()}
        names.update(torch=torch, out=None if out is None else torch.from_numpy(out))
        if "out" in text:
            return compiled(text, names, "out")
        return compiled(f"result = {text}", names, "result")


class Peer:
    def __init__(self, path, subjects, threads):
        self.file = np.memmap(path, np.uint8, "r+")
        self.libraries = Libraries(threads)
        self.wanted = subjects
        self.inputs = {}
        self.ready = {}
        self.case = ""

    def drop(self):
        self.ready = {}
        self.inputs = {}
        gc.collect()  # Off while something is timed. Whatever holds an array is of a gigabyte.
        return {}

    def load(self, name, dtype, count):
        dtype = np.dtype(dtype)
        array = np.empty(int(count), dtype)
        array[:] = self.file[: array.nbytes].view(dtype)
        self.inputs[name] = array
        return {}

    def prepare(self, case):
        self.ready = {}
        self.case = case
        texts = CASES[case]
        like = self.inputs["x"]  # Where NumPy has no such function.
        if texts[0] is not None:
            names = dict(self.inputs, np=np, a=self.inputs["x"].dtype.type(A))
            like = compiled(f"result = {texts[0]}", names, "result")()
        reasons = {}
        for subject in self.wanted:
            text = texts[COLUMNS[subject]]
            if text is None or (subject in ("numexpr", "torch")
                                and getattr(self.libraries, subject) is None):
                continue
            try:
                self.ready[subject] = Subject(
                    self.libraries.make(subject, text, self.inputs, like))
            except (TypeError, ValueError, NotImplementedError, RuntimeError, MemoryError) as error:
                reasons[subject] = f"{type(error).__name__}: {error}"
        return {"subjects": list(self.ready), "reasons": reasons}

    def run(self, name, calls):
        subject = self.ready[name]
        # re_evaluate repeats whatever expression was compiled last.
        if name == "numexpr":
            subject.call.first()
        seconds = subject.burst(int(calls))
        spins = name == "torch" or (name == "numpy" and self.case in BLAS_CASES)
        if spins and self.libraries.threads > 1:
            time.sleep(SETTLE_S)
        return {"seconds": seconds}

    def result(self, name):
        value = self.ready[name].result
        if name == "torch":
            value = value.numpy()
        array = np.ascontiguousarray(value).reshape(-1)
        self.file[: array.nbytes] = array.view(np.uint8)
        return {"dtype": array.dtype.name, "count": array.size}

    def answer(self, words):
        commands = {"load": self.load, "case": self.prepare, "run": self.run,
                    "result": self.result, "drop": self.drop}
        return commands[words[0]](*words[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--file", required=True, help="what both have mapped")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--subjects", default=",".join(COLUMNS))
    options = parser.parse_args()
    gc.disable()
    # Those of results far out of range are of no interest here.
    np.seterr(all="ignore")
    peer = Peer(options.file, options.subjects.split(","), options.threads)
    print("ready", json.dumps(peer.libraries.versions()), flush=True)
    for line in sys.stdin:
        try:
            print("done", json.dumps(peer.answer(line.split())), flush=True)
        except Exception as error:  # Whatever it is, the other side has to hear of it.
            print("error", f"{type(error).__name__}: {error}".replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
