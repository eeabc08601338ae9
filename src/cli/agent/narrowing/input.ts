/** Flags, or keys of `[tunnels.NAME]`, that add access control: what narrowing.ts and basic-auth.ts read, and the files that they name. */
import { readFileSync } from 'node:fs';
import { codeOf, messageOf } from '../../../base/errors.ts';
import type { NarrowingSettings } from '../../../config/agent-keys/narrowing.ts';
import type { Protocol } from '../../../wire/messages.ts';

export interface NarrowingInput {
  /** Where a password may be; undefined: none is looked for. */
  readonly env: NodeJS.ProcessEnv | undefined;
  /** The password that was typed at a prompt. */
  readonly typed?: string | undefined;
  readonly protocol: Protocol;
  readonly values: NarrowingSettings;
  /** The file that `name` means. Throws when the settings may not name it. */
  readonly fileAt: (key: keyof NarrowingSettings, name: string) => string;
  /** CULVERT_BASIC_AUTH requires a password by itself: the command publishes one tunnel. */
  readonly isAlone: boolean;
  /** The command and its target, for examples in messages. */
  readonly typedAs?: string | undefined;
  /** The error for a mistake in the value of `key`. */
  readonly mistake: (key: keyof NarrowingSettings, text: string) => Error;
}

/** Throws what `mistake` makes. */
export function fileText(path: string, mistake: (reason: string) => Error): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const reason = codeOf(cause) === 'ENOENT' ? 'there is no such file' : messageOf(cause);
    throw mistake(`${path} cannot be read: ${reason}`);
  }
}
