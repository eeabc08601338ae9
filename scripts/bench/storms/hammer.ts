/** API calls as fast as the server responds, by wrk: a client in JavaScript would cost more than the storm. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { number } from '../report/tables.ts';
import type { Fixture } from './fixture.ts';

export interface Hammer {
  /** Names the script. */
  readonly name: string;
  readonly bearer: string;
  readonly connections: number;
  /** With one for each connection, a script has state of its connection alone. */
  readonly threads?: number;
  readonly seconds: number;
  /** Lua for the requests. The Authorization header is set already. */
  readonly script: string;
  /** Secrets for the script, kept out of its file. */
  readonly env?: Readonly<Record<string, string>>;
  /** What counts as done; `success` unless given. */
  readonly expects?: 'success' | 'refusal' | 'any';
}

const BEGIN = `
wrk.headers['content-type'] = 'application/json'
if os.getenv('BENCH_BEARER') ~= '' then wrk.headers['authorization'] = 'Bearer ' .. os.getenv('BENCH_BEARER') end
`;

/** Resolves to the results of the calls, in words. Throws when no response was as expected. */
export async function hammer({ bench, server }: Fixture, options: Hammer): Promise<string> {
  const { name, bearer, connections, threads = 1, seconds, script, expects = 'success' } = options;
  const { processes } = bench;
  const file = join(processes.folder, `${name}.lua`);
  writeFileSync(file, `${BEGIN}${script}`);
  const { stdout, stderr } = await processes.run(
    [
      ...['wrk', '-c', String(connections), '-t', String(threads), '-d', `${Math.max(1, Math.floor(seconds))}s`],
      ...['--timeout', '60s', '-s', file, `http://127.0.0.1:${server.apiPort}/`],
    ],
    { env: { ...options.env, BENCH_BEARER: bearer } },
  );
  const answered = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? Number.NaN);
  if (Number.isNaN(answered)) throw new Error(`${name}: ${stderr.trim() || stdout}`);
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  const errors = /Socket errors: (.*)/.exec(stdout)?.[1];
  const done = { success: answered - refused, refusal: refused, any: answered }[expects];
  if (expects !== 'any' && done <= 0) throw new Error(`${name}: ${stderr.trim() || stdout}`);
  const others = `${number(answered - refused, 0)} done, ${number(refused, 0)} refused`;
  const broken = errors === undefined || /^(\w+ 0,? ?)+$/.test(errors) ? '' : `, sockets: ${errors}`;
  return `${others}${broken}`;
}
