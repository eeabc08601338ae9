/** A secret that a command sends: from a file, the environment or a prompt. Used by access/ and webhooks/. */
import { resolve } from 'node:path';
import { usageError } from '../terminal/exit.ts';
import { optionOf, textFlag } from '../terminal/flags.ts';
import { askSecret } from '../terminal/ask-secret.ts';
import type { Asked } from './api-command.ts';
import { readKeyText } from './key-text.ts';

const MAX_BYTES = 4_096;

export interface SecretSources {
  /** The flag with its file, as commander names it. */
  readonly flag: string;
  /** The variable that may hold it. */
  readonly variable: string;
  /** What the prompt asks for, such as "Password". */
  readonly label: string;
}

/** @throws ExitError (usage) where there is no source, or an empty one. */
export async function readSecret({ io, flags }: Asked, sources: SecretSources): Promise<string> {
  const { flag, variable, label } = sources;
  const file = textFlag(flags, flag);
  if (file !== undefined) {
    const from = { path: resolve(io.cwd, file), shown: file, maxBytes: MAX_BYTES };
    const text = await readKeyText({ ...from, tooLong: `is longer than ${MAX_BYTES} bytes`, mayBePipe: true });
    return filled(text.replace(/\r?\n$/, ''), file);
  }
  const given = io.env[variable];
  if (given !== undefined && given !== '') return given;
  if (io.stdin.isTTY === true && io.stderr.isTTY === true) return askSecret(io, `${label}: `);
  throw usageError(`there is no terminal for a prompt. Use ${optionOf(flag)} FILE or ${variable}`);
}

function filled(text: string, where: string): string {
  if (text.trim() === '') throw usageError(`${where}: is empty`);
  return text;
}
