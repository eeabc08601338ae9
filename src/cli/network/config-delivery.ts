/**
 * How a WireGuard configuration reaches the person: on standard output, in a file for its owner alone (`--output`), or as a QR code on the terminal
 * (`--qr`). Where the private key is known here it takes the place of the server's placeholder. Used by the `network` commands; made before anything
 * is changed on the server, so that a mistake in the options changes nothing.
 */
import { basename } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import type { Asked } from '../client/api-command.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { canDraw, handOver, type Io, print, writeLine } from '../terminal/io.ts';
import { KeyFile } from '../client/key-file.ts';
import { INTERFACE_NAME } from './items.ts';
import { harmless, harmlessLines, jsonText } from '../terminal/paint.ts';
import { type QrCode, qrCode } from '../terminal/qr-code.ts';

/** What the server wrote in place of the key that it does not have. */
const PLACEHOLDER = /^PrivateKey[ \t]*=.*$/m;

/** A line of what this program lets pass: remarks, and settings that name keys and addresses and run nothing. */
const KNOWN_LINE =
  /^(?:#.*|\[(?:Interface|Peer)\]|(?:PrivateKey|Address|DNS|MTU|ListenPort|PublicKey|AllowedIPs|Endpoint|PersistentKeepalive) = [\w+/=.,:[\] -]+)?$/;

export interface Config {
  /** Gets it as the server renders it. */
  readonly render: () => Promise<string>;
  readonly key: Secret | undefined;
  /** What `--json` shows; file and configuration are put beside it. */
  readonly answer: object;
  /** How to go on when the configuration does not arrive, and the key with it was made just now. */
  readonly lost?: string | undefined;
}

export class ConfigDelivery {
  readonly #asked: Asked;
  readonly #file: KeyFile | undefined;

  private constructor(asked: Asked, file: KeyFile | undefined) {
    this.#asked = asked;
    this.#file = file;
  }

  /** @throws ExitError (usage) for options that do not fit, a file that is there, a terminal that shows no QR code. */
  static async prepare(asked: Asked): Promise<ConfigDelivery> {
    const { flags, io } = asked;
    const isForced = flags['force'] === true;
    if (flags['qr'] === true && flags['json'] === true) throw usageError('--qr and --json: choose one');
    if (flags['qr'] === true && !isForced) checkTerminal(io);
    const path = textFlag(flags, 'output');
    if (path === undefined) return new ConfigDelivery(asked, undefined);
    const options = { cwd: io.cwd, replaces: isForced, keepsReaders: false };
    return new ConfigDelivery(asked, await KeyFile.open(path, options));
  }

  /** Where it goes; undefined: not into a file. */
  get file(): string | undefined {
    return this.#file?.path;
  }

  /** @throws ExitError (usage) when a QR code of about this text does not fit the terminal: asked before a key is made that is shown once. */
  checkRoom(about: string): void {
    const { flags, io } = this.#asked;
    if (flags['qr'] === true && flags['force'] !== true) roomFor(io, qrCode(about, { color: false }));
  }

  /** @throws ExitError when it could not be handed over. */
  async deliver({ render, key, answer, lost }: Config): Promise<void> {
    const { flags, io } = this.#asked;
    const config = await rendered(render, key, lost);
    await this.#save(config, lost);
    if (flags['json'] === true) {
      const shown = this.#file === undefined ? { config } : { file: this.#file.path };
      return this.#hand(jsonText({ ...answer, ...shown }), lost);
    }
    if (this.#file !== undefined) writeLine(io.stderr, harmless(`The configuration is in ${this.#file.path}.`));
    if (flags['qr'] === true) return this.#draw(config, lost);
    if (this.#file === undefined) return this.#hand(harmlessLines(config), lost);
    this.#tellName(this.#file.path);
  }

  /** Leaves no file behind. May be called twice. */
  async close(): Promise<void> {
    await this.#file?.close();
  }

  async #save(config: string, lost: string | undefined): Promise<void> {
    try {
      await this.#file?.keep(config);
    } catch (cause) {
      const text = `${this.#file?.path}: cannot be written: ${messageOf(cause)}. ${lost ?? ''}`.trim();
      throw new ExitError(EXIT.failure, harmless(text), { cause });
    }
  }

  async #draw(config: string, lost: string | undefined): Promise<void> {
    const { io, flags } = this.#asked;
    const code = qrCode(withoutRemarks(config), { color: !io.env['NO_COLOR'] });
    if (flags['force'] !== true) this.#checkDrawn(code, lost);
    writeLine(io.stderr, 'Scan it with the WireGuard app: "Create from QR code". It contains the private key.');
    await this.#hand(code.lines.join('\n'), lost);
  }

  /** A server of another version may render more than `checkRoom` expected. The key is then in its file, or lost. */
  #checkDrawn(code: QrCode, lost: string | undefined): void {
    try {
      roomFor(this.#asked.io, code);
    } catch (cause) {
      throw withLost(cause, this.#file === undefined ? lost : undefined);
    }
  }

  /** On standard output; what is in its file, or asked for again easily, may lose its reader. */
  #hand(text: string, lost: string | undefined): Promise<void> {
    const { io } = this.#asked;
    return lost === undefined || this.#file !== undefined
      ? print(io.stdout, text)
      : handOver(io.stdout, text, harmless(lost));
  }

  #tellName(path: string): void {
    const name = basename(path).replace(/\.conf$/, '');
    if (path.endsWith('.conf') && INTERFACE_NAME.test(name)) return;
    const form = 'NAME.conf with 1 to 15 letters, digits, "_", "=", "+", "." or "-" as NAME';
    writeLine(this.#asked.io.stderr, harmless(`wg-quick does not accept this file name. It needs ${form}.`));
  }
}

async function rendered(render: Config['render'], key: Secret | undefined, lost: string | undefined): Promise<string> {
  try {
    const text = await render();
    checkLines(text);
    return (key === undefined ? text : withKey(text, key)).trimEnd();
  } catch (cause) {
    throw withLost(cause, lost);
  }
}

/** What went wrong, and how to go on after it. */
function withLost(cause: unknown, lost: string | undefined): unknown {
  if (lost === undefined) return cause;
  const exitCode = cause instanceof ExitError ? cause.exitCode : EXIT.failure;
  return new ExitError(exitCode, `${messageOf(cause)} ${harmless(lost)}`, { cause });
}

/** The configuration as a machine needs it. */
export function withoutRemarks(config: string): string {
  const lines = config.split('\n').map((line) => line.replace(/#.*$/, '').trimEnd());
  return lines.filter((line) => line !== '').join('\n');
}

/**
 * wg-quick runs PostUp and similar commands of a configuration as root. The operator of the server must not get root here.
 * @throws ExitError (failure) for a line that is none of a plain configuration.
 */
function checkLines(config: string): void {
  const wrong = config.split('\n').findIndex((line) => !KNOWN_LINE.test(line));
  if (wrong < 0) return;
  const [name = ''] = (config.split('\n')[wrong] ?? '').split('=');
  const text = `the configuration from the server is rejected: line ${wrong + 1} ("${name.trim().slice(0, 40)}") is not allowed`;
  throw new ExitError(EXIT.failure, harmless(text));
}

/** @throws ExitError (failure) when the server left no place for a key. */
function withKey(config: string, key: Secret): string {
  if (!PLACEHOLDER.test(config)) {
    throw new ExitError(
      EXIT.failure,
      'the configuration from the server is rejected: it has no place for the private key',
    );
  }
  return config.replace(PLACEHOLDER, () => `PrivateKey = ${key.reveal()}`);
}

function checkTerminal(io: Io): void {
  if (!canDraw(io.stdout, io.env)) {
    throw usageError(
      '--qr: standard output is not a terminal, and the code contains the private key. --force prints it anyway',
    );
  }
  if (!/utf-?8/i.test(io.env['LC_ALL'] || io.env['LC_CTYPE'] || io.env['LANG'] || 'utf8')) {
    throw usageError(
      '--qr: this terminal does not use UTF-8 (LC_ALL, LC_CTYPE or LANG). --force prints the code anyway',
    );
  }
}

function roomFor({ stdout }: Io, { columns, lines }: { columns: number; lines: readonly string[] }): void {
  const has = { columns: stdout.columns ?? 0, rows: stdout.rows ?? 0 };
  // The shell's next prompt needs a line, or the code scrolls.
  if (has.columns >= columns && has.rows > lines.length) return;
  const needs = `${columns} columns and ${lines.length + 1} lines`;
  throw usageError(
    `--qr: the code needs ${needs}, and this terminal has ${has.columns} and ${has.rows}. Enlarge the window, use a smaller font, or use --output FILE`,
  );
}
