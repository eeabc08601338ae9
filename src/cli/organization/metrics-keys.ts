/** `culvert metrics-keys`: keys with which Prometheus reads the metrics of the organization. */
import { z } from 'zod';
import { apiCommand, type Asked, printDone, printRows } from '../client/api-command.ts';
import { KeyFile } from '../client/key-file.ts';
import { confirm } from '../terminal/confirm.ts';
import { refuseFlags, textFlag } from '../terminal/flags.ts';
import { handOver, print, writeLine } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/paint.ts';
import { day, findRow } from './find.ts';

const key = z.looseObject({
  id: z.string(),
  name: z.string(),
  created_at: z.string(),
  created_by: z.string().nullable(),
  last_used_at: z.string().nullable(),
});
type Key = z.output<typeof key>;
const made = z.looseObject({ id: z.string(), name: z.string(), key: z.string().min(1) });
type Made = z.output<typeof made>;

export const metricsKeysList = apiCommand(async (asked) => {
  await printRows(asked, await listKeys(asked), {
    name: (row) => row.name,
    since: (row) => day(row.created_at),
    'created by': (row) => row.created_by ?? '-',
    'last used (utc)': (row) => row.last_used_at?.slice(0, 19).replace('T', ' ') ?? '-',
    id: (row) => row.id,
  });
});

export const metricsKeysCreate = apiCommand(async (asked) => {
  const { args, flags, io } = asked;
  const path = textFlag(flags, 'saveFile');
  if (path === undefined) refuseFlags(flags, ['force'], 'is for --save-file');
  const replaces = flags['force'] === true;
  const file = path === undefined ? undefined : await KeyFile.open(path, { cwd: io.cwd, replaces, keepsReaders: true });
  try {
    const created = made.parse(await asked.call('POST', '/metrics/keys', { name: args[0] ?? '' }));
    await (file === undefined ? show(asked, created) : save(asked, created, file));
  } finally {
    await file?.close();
  }
});

export const metricsKeysDelete = apiCommand(async (asked) => {
  const of = (row: Key): string[] => [row.id, row.name];
  const named = { of, what: 'metrics key', list: 'metrics-keys list' };
  const found = findRow(await listKeys(asked), asked.args[0] ?? '', named);
  await confirm(asked.io, asked.flags, `Delete the metrics key ${found.name}?`);
  const answer = await asked.call('DELETE', `/metrics/keys/${encodeURIComponent(found.id)}`);
  await printDone(asked, answer, `${found.name}: deleted`);
});

async function listKeys(asked: Asked): Promise<Key[]> {
  return key.array().parse(await asked.call('GET', '/metrics/keys'));
}

async function show({ io, flags }: Asked, created: Made): Promise<void> {
  const lost = harmless(`The key is lost. Delete it: culvert metrics-keys delete ${created.id}`);
  if (flags['json'] === true) return handOver(io.stdout, jsonText(created), lost);
  writeLine(io.stderr, harmless(`Created the metrics key "${created.name}". Copy it now. You won't see it again:`));
  await handOver(io.stdout, harmless(created.key), lost);
}

async function save({ io, flags }: Asked, created: Made, file: KeyFile): Promise<void> {
  await file.keep(created.key);
  const { key: _, ...open } = created;
  if (flags['json'] === true) return print(io.stdout, jsonText({ ...open, file: file.path }));
  writeLine(io.stderr, harmless(`Created the metrics key "${created.name}". It is in ${file.path}.`));
}
