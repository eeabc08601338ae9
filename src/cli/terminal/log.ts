/**
 * The log writer (pino) behind base/log.ts: pretty on a terminal, JSON lines elsewhere, never a key or a password in it.
 * Streams in this process only: pino's worker transports can't be bundled.
 */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Logger } from '../../base/log.ts';
import type { Output } from './io.ts';
import { type LogCounts, LogLines } from './log-lines.ts';
import { escapedMarks } from './paint.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  /** `auto`: pretty on a terminal, JSON lines elsewhere. */
  readonly format: 'auto' | 'pretty' | 'json';
  readonly output: Output;
  readonly color: boolean;
  /** Kept up to date. */
  readonly counts?: LogCounts;
}

/** Fields that hold a secret wherever they appear. Values of type Secret mask themselves besides. */
const SECRET_FIELDS = [
  'token',
  'password',
  'secret',
  'authorization',
  'cookie',
  'access_token',
  'refresh_token',
  'apiKey',
  'wireBytes',
  'wire_bytes_b64',
  'device_code',
];
/** A key that slipped into a text (an error of a library, a URL). */
const KEY_TEXT = /mtk_(?:master_)?[0-9A-Za-z]{8,}/g;

/** A logger for one command. */
export async function makeLog(options: LogOptions): Promise<Logger> {
  const { output, format } = options;
  const settings = {
    level: options.level,
    base: null,
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '[secret]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
  };
  let found: Logger | undefined;
  const target = scrubbed(
    new LogLines(
      output,
      (lost, cause) => found?.warn({ lost, cause }, 'log lines were lost: they could not be written'),
      options.counts,
    ),
  );
  if (format === 'json' || (format === 'auto' && output.isTTY !== true)) {
    const log: Logger = pino(settings, target);
    found = log;
    return log;
  }
  const { default: pretty } = await import('pino-pretty');
  const lines = pretty({
    destination: target,
    colorize: options.color,
    translateTime: 'SYS:HH:MM:ss',
    sync: true,
  });
  const log: Logger = pino(settings, lines);
  found = log;
  return log;
}

/** The output, with keys taken out of what is written. */
function scrubbed(output: LogLines): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      // Names of agents and causes of refusals are others' words: no terminal shall obey them.
      const text = escapedMarks(chunk.toString());
      output.write(text.includes('mtk_') ? text.replace(KEY_TEXT, 'mtk_[secret]') : text);
      done();
    },
  });
}
