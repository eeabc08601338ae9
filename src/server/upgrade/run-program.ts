/** Runs another version of this program for an answer. */
import { spawn } from 'node:child_process';
import type { Owner } from './owner.ts';

const TIMEOUT_MS = 60_000;
/** What is kept of its output. */
const MAX_CHARS = 10_000;

interface RunOptions {
  /** The user that it runs as. */
  readonly owner?: Owner | undefined;
  readonly timeoutMs?: number;
}

/** How a program ended that did not do its work. */
export class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';
  /** Its exit code, or the signal that ended it. */
  readonly code: number | string;

  constructor(message: string, code: number | string) {
    super(message);
    this.code = code;
  }
}

/** Resolves with its standard output. Rejects with its last line when it does not end well. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { owner, timeoutMs = TIMEOUT_MS }: RunOptions = {},
): Promise<string> {
  // Settings come by arguments alone.
  const { CULVERT_CONFIG: _, ...env } = process.env;
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs, ...owner });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (piece: Buffer) => {
      text[name] = (text[name] + piece.toString()).slice(-MAX_CHARS);
    });
  }
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'no code'));
  });
  if (code === 0) return text.stdout;
  const reason =
    text.stderr
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^culvert: /, '') ?? '';
  throw new ProgramFailed(`${program} ${args.slice(0, 2).join(' ')} ended with ${code}: ${reason}`, code);
}
