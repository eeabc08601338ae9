/** Storms of reads: HAR exports, audit logs, long lists, backups. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { number } from '../report/tables.ts';
import { hammer } from './hammer.ts';
import type { Storm } from './storm.ts';
import type { Fixture } from './fixture.ts';

const READERS = 4;

const ARCHIVE = `request = function() return wrk.format('GET', '/inspector/har') end`;

/** Page after page, as an export reads them; begins again after the last page. */
const PAGES = `
local before = nil
request = function()
  return wrk.format('GET', '/events?limit=1000' .. (before and '&before=' .. before or ''))
end
response = function(status, headers, body)
  before = string.match(body, '.*"id":"([^"]+)"')
end
`;

/** Long lists, and searches that read each row and find nothing. */
const LISTS = `
local paths = {
  '/events?limit=1000', '/tunnels', '/inspector?limit=500', '/events?action=org.delete', '/tokens',
  '/inspector?limit=500&path=nowhere', '/me/events?limit=1000', '/events?actor=missing',
}
local n = 0
request = function()
  n = n + 1
  return wrk.format('GET', paths[n % #paths + 1])
end
`;

export function readStorms(fixture: Fixture): Storm[] {
  const read = (name: string, script: string, connections: number, threads: number) => async (seconds: number) => {
    const { bearer } = await fixture.logIn(fixture.filled.historian);
    return hammer(fixture, { name, bearer, connections, threads, seconds, script });
  };
  const prepare = async (): Promise<void> => void (await fixture.logIn(fixture.filled.historian));
  return [
    {
      name: 'har',
      title: 'GET /inspector/har of a long history, again and again',
      prepare,
      run: read('har', ARCHIVE, 1, 1),
    },
    {
      name: 'audit',
      title: `${READERS} export a long audit log, 1,000 events a page`,
      prepare,
      run: read('audit', PAGES, READERS, READERS),
    },
    { name: 'lists', title: `${READERS} read lists of long tables`, prepare, run: read('lists', LISTS, READERS, 1) },
    { name: 'backup', title: 'culvert backup, again and again', run: (seconds) => backUp(fixture, seconds) },
  ];
}

async function backUp({ bench, server }: Fixture, seconds: number): Promise<string> {
  const { processes } = bench;
  const until = performance.now() + seconds * 1_000;
  let bytes = 0;
  let count = 0;
  while (performance.now() < until) {
    const file = join(processes.folder, `backup-${count}.culvert`);
    const { code, stdout, stderr } = await processes.run([
      ...[...server.command, 'backup', file, '--config', server.configFile],
    ]);
    if (code !== 0) throw new Error(`culvert backup: ${stderr.trim()}`);
    bytes = Number(/: (\d+) bytes/.exec(stdout)?.[1] ?? Number.NaN);
    count += 1;
    rmSync(file);
  }
  return `${count} of ${number(bytes / 1e6, 0)} MB`;
}
