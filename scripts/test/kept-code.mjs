/**
 * Runs a bundle as Node runs a file of CommonJS, with what V8 compiled for an earlier process of the same kind. Node's own compile cache has only the
 * functions that are compiled before the first of them runs: a server that starts compiles as many again. Used by the program that tests start and
 * by its threads (bundle.ts); plain JavaScript, for Node would load a compiler for types at each start.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { constants, Script } from 'node:vm';

/** By then a server has started and an agent has its tunnel: what they needed for it is kept. */
const STARTED_MS = 2_000;

/** `file` has ASCII alone. Each `kind` of process keeps its own: what others need would only cost it time. */
export function run(file, kind) {
  const kept = `${file}.${kind}`;
  const cachedData = readIfThere(kept);
  const script = new Script(
    `(function (module, exports, require, __filename, __dirname) {${readFileSync(file, 'latin1')}\n})`,
    { filename: file, cachedData, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER },
  );
  if (cachedData === undefined) {
    setTimeout(() => keep(script, kept), STARTED_MS).unref();
    // A command that ends well before has needed nothing more; a start that fails has compiled a part, which would stay.
    process.once('exit', (code) => {
      if (code === 0 && !existsSync(kept)) keep(script, kept);
    });
  }
  const module = { exports: {} };
  script.runInThisContext()(module, module.exports, createRequire(file), file, dirname(file));
}

function readIfThere(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined; // The first of the run, or one whose folder is gone.
  }
}

/** Whole or not at all: others read it at any time. */
function keep(script, file) {
  const written = `${file}.${process.pid}`;
  try {
    writeFileSync(written, script.createCachedData());
    renameSync(written, file);
  } catch {
    // The run is over and its folder is gone, or the disk of a test about full disks is full: nothing is kept.
  }
}
