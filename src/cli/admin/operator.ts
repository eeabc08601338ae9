/**
 * What all `culvert admin` commands do alike: settings, the way to the operators' routes (beside a running server or without one), exit
 * codes, and lists page by page.
 */
import type { z } from 'zod';
import { AppError } from '../../base/errors.ts';
import { loadServerConfig } from '../../config/load.ts';
import { type Operator, openOperator } from '../../server/admin.ts';
import type { CommandBody, Invocation } from '../terminal/command.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { hasColor, type Io, print, writeLine } from '../terminal/io.ts';
import { makeLog } from '../terminal/log.ts';
import { jsonText } from '../terminal/paint.ts';
import { tableLines } from '../terminal/table.ts';
import { VERSION } from '../terminal/version.ts';

const PAGE = 200;
/** Rows are kept in memory until they are printed. */
const MAX_ROWS = 10_000;

/** What such a command has to work with. */
export interface Asked extends Invocation {
  readonly operator: Operator;
  readonly io: Io;
  /** The server's settings file; null for the defaults. */
  readonly file: string | null;
  /** Certificates of the edge come by ACME. */
  readonly usesAcme: boolean;
}

/** A command that asks the server that runs, or the data folder without one. */
export function operatorCommand(work: (asked: Asked) => Promise<void>): CommandBody {
  return async (io, invocation) => {
    const { settings, file } = loadServerConfig(configFlag(invocation), io);
    const log = await makeLog({ level: 'warn', format: 'auto', output: io.stderr, color: hasColor(io.stderr, io.env) });
    // Behind sudo the process runs as the user of the data folder, which says nothing.
    const sudoer = io.env['SUDO_USER'];
    const operator = await openOperator(settings, {
      version: VERSION,
      log,
      command: retyped('admin …', file),
      ...(sudoer === undefined || sudoer === '' ? {} : { user: sudoer }),
    });
    try {
      await work({ operator, io, file, usesAcme: settings.edge.tls.mode === 'acme', ...invocation });
      return EXIT.ok;
    } catch (cause) {
      if (!(cause instanceof AppError)) throw cause;
      throw new ExitError(cause.code === 'invalid_request' ? EXIT.usage : EXIT.failure, cause.message, { cause });
    } finally {
      operator.close();
    }
  };
}

/** The file of `--config`. */
export function configFlag({ flags }: Invocation): string | undefined {
  return typeof flags['config'] === 'string' ? flags['config'] : undefined;
}

/** How to type a command again with the same settings: `sudo` does not pass the environment on. */
export function retyped(words: string, file: string | null): string {
  return file === null ? `culvert ${words}` : `culvert ${words} --config ${file}`;
}

/** The path of one account or organization: `/superadmin/orgs/shop/approve`. Throws when the handle would make it another path. */
export function pathOf(kind: 'users' | 'orgs', handle = '', action?: string): string {
  if (['', '.', '..'].includes(handle)) {
    const wanted = kind === 'users' ? "an account's email address or ID" : "an organization's slug or ID";
    throw usageError(`"${handle}" is not ${wanted}`);
  }
  const path = `/superadmin/${kind}/${encodeURIComponent(handle)}`;
  return action === undefined ? path : `${path}/${action}`;
}

export interface ListOptions<Row> {
  readonly path: string;
  /** Filters, as the route takes them; what is undefined is left out. */
  readonly filter: Readonly<Record<string, unknown>>;
  readonly schema: z.ZodType<Row>;
  /** What the next page begins behind. */
  readonly cursorOf: (row: Row) => string;
  readonly columns: Readonly<Record<string, (row: Row) => string>>;
}

/** Prints a list: a table, or with `--json` one array. */
export async function printList<Row>(
  { operator, io, flags }: Asked,
  { path, filter, schema, cursorOf, columns }: ListOptions<Row>,
): Promise<void> {
  const rows: Row[] = [];
  let size = PAGE;
  while (size === PAGE && rows.length < MAX_ROWS) {
    const query = new URLSearchParams({ limit: String(PAGE) });
    for (const [name, value] of Object.entries(filter)) if (typeof value === 'string') query.set(name, value);
    const last = rows.at(-1);
    if (last !== undefined) query.set('after', cursorOf(last));
    const page = schema.array().parse(await operator.call('GET', `${path}?${query.toString()}`));
    rows.push(...page);
    size = page.length;
  }
  if (size === PAGE) writeLine(io.stderr, `culvert: only the first ${rows.length} are shown. Filter them with --query`);
  if (flags['json'] === true) return print(io.stdout, jsonText(rows));
  const cells = rows.map((row) => Object.values(columns).map((cell) => cell(row)));
  await print(io.stdout, tableLines(Object.keys(columns), cells).join('\n'));
}
