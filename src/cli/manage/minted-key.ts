/**
 * How a secret that was just made is handed over: alone on standard output, as lines for a shell, as JSON, or into a file. Whatever is for people
 * goes to standard error. Used by mint-token.ts.
 */
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import { serverName } from '../../config/credentials.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { optionOf, textFlag } from '../terminal/flags.ts';
import { handOver, print, writeLine } from '../terminal/io.ts';
import { KeyFile } from '../client/key-file.ts';
import type { Asked } from '../client/api-command.ts';
import { harmless, jsonText } from '../terminal/paint.ts';
import { when } from './token-rows.ts';

/** What of a minted token is, or makes up, its secret: claims and signature together are the wire form. */
const SECRETS: ReadonlySet<string> = new Set(['apiKey', 'wireBytes', 'signature']);
/** Base62 and the prefix; anything else would need quoting, and is no key. */
const KEY = /^mtk_[A-Za-z0-9_]{8,200}$/;
/** What a shell takes as it stands, quoted or not, in an assignment. $GITHUB_ENV knows no quotes. */
const PLAIN = /^[A-Za-z0-9_.:/@%+=,[\]-]+$/;

const minted = z.looseObject({
  name: z.string(),
  nonce: z.string(),
  kind: z.string(),
  expiresAt: z.int(),
  apiKey: z.string().regex(KEY),
});

export type Minted = z.output<typeof minted>;

/** The way of one command's key. Made before the key is, so that a mistake in the options or the file makes none. */
export class KeyDelivery {
  readonly #asked: Asked;
  readonly #file: KeyFile | undefined;

  private constructor(asked: Asked, file: KeyFile | undefined) {
    this.#asked = asked;
    this.#file = file;
  }

  /** `replaces`: a file that is there may be replaced. @throws ExitError (usage) */
  static async prepare(asked: Asked, { replaces }: { replaces: boolean }): Promise<KeyDelivery> {
    const { flags, io, server } = asked;
    const path = textFlag(flags, 'saveFile');
    const isEnv = flags['outputEnv'] === true;
    if (isEnv && flags['json'] === true) throw usageError('--output-env and --json: choose one');
    if (isEnv && path !== undefined) throw usageError('--output-env and --save-file: choose one');
    if (isEnv && !PLAIN.test(serverName(server))) {
      throw usageError(`--output-env: the URL ${serverName(server)} needs quotes in a shell`);
    }
    if (path === undefined) return new KeyDelivery(asked, undefined);
    return new KeyDelivery(asked, await KeyFile.open(path, { cwd: io.cwd, replaces, keepsReaders: true }));
  }

  /** Makes the key and hands it over. @throws ExitError when the server refuses, or the key was lost on the way. */
  async deliver(make: () => Promise<unknown>, verb: string): Promise<void> {
    let answer: unknown;
    try {
      answer = await make();
    } catch (error) {
      await this.#file?.close();
      throw error;
    }
    const found = minted.safeParse(answer);
    if (!found.success) {
      await this.#file?.close();
      throw new ExitError(EXIT.failure, 'the response of the server has no valid key');
    }
    await this.#save(found.data);
    await this.#print(found.data, verb);
  }

  async #save({ apiKey, name, nonce }: Minted): Promise<void> {
    try {
      await this.#file?.keep(apiKey);
    } catch (cause) {
      const text = `${this.#file?.path}: cannot be written: ${messageOf(cause)}. ${this.#advice({ name, nonce })}`;
      throw new ExitError(EXIT.failure, harmless(text), { cause });
    }
  }

  /** What to do about a key that is lost. */
  #advice({ name, nonce }: Pick<Minted, 'name' | 'nonce'>): string {
    const options = ['project', 'server', 'tokenFile', 'saveFile'].flatMap((flag) => {
      const value = textFlag(this.#asked.flags, flag);
      return value === undefined ? [] : [optionOf(flag), value];
    });
    const again = ['culvert tokens rotate', nonce, ...options].join(' ');
    return `The key of ${name} is lost. Create another: ${again}`;
  }

  async #print(token: Minted, verb: string): Promise<void> {
    const { flags, io, server } = this.#asked;
    if (flags['json'] === true) {
      const open = Object.entries(token).filter(([field]) => this.#file === undefined || !SECRETS.has(field));
      const file = this.#file === undefined ? {} : { file: this.#file.path };
      return this.#hand(token, jsonText({ ...Object.fromEntries(open), ...file }));
    }
    const { name, nonce, kind, expiresAt, apiKey } = token;
    const what = kind === 'master' ? 'master key' : 'access key';
    writeLine(io.stderr, harmless(`${verb} the ${what} "${name}" (${nonce}), valid until ${when(expiresAt)} UTC.`));
    if (this.#file !== undefined) return writeLine(io.stderr, `The key is in ${this.#file.path}.`);
    if (flags['outputEnv'] !== true) {
      writeLine(io.stderr, "Copy the key now. You won't see it again:");
      return this.#hand(token, apiKey);
    }
    await this.#hand(token, `CULVERT_SERVER=${serverName(server)}\nCULVERT_TOKEN=${apiKey}`);
  }

  /** On standard output; of a key that is safe in its file, only the rest. */
  #hand(token: Minted, text: string): Promise<void> {
    const { io } = this.#asked;
    return this.#file === undefined ? handOver(io.stdout, text, harmless(this.#advice(token))) : print(io.stdout, text);
  }
}
