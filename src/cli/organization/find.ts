/** Finds a row of a list by the name that people use, or its ID; and the organization that commands act for. */
import { z } from 'zod';
import type { Asked } from '../client/api-command.ts';
import { EXIT, ExitError } from '../terminal/exit.ts';
import { harmless } from '../terminal/paint.ts';

const account = z.looseObject({ active_org: z.looseObject({ id: z.string() }) });

export interface Named<Row> {
  /** Names and IDs of a row. */
  readonly of: (row: Row) => readonly string[];
  /** As in "there is no domain …". */
  readonly what: string;
  /** The command that lists them. */
  readonly list: string;
}

/** @throws ExitError (failure) when there is none, or several have the name. */
export function findRow<Row>(rows: readonly Row[], handle: string, { of, what, list }: Named<Row>): Row {
  const found = rows.filter((row) => of(row).includes(handle));
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const why =
    first === undefined
      ? `there is no ${what} "${handle}". \`culvert ${list}\` shows them`
      : `${found.length} have the name "${handle}". Use the ID from \`culvert ${list} --json\``;
  throw new ExitError(EXIT.failure, harmless(why));
}

/** The path of the user's organization. */
export async function organizationPath(asked: Asked): Promise<string> {
  const { active_org: org } = account.parse(await asked.call('GET', '/auth/me'));
  return `/orgs/${encodeURIComponent(org.id)}`;
}

export function day(time: string): string {
  return time.slice(0, 10);
}
