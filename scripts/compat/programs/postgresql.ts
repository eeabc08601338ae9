/** PostgreSQL behind a tcp tunnel. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { findProgram } from '../../../test/harness/tools.ts';
import { type CompatProgram, NotHere } from '../program.ts';

const ROWS = 100_000;
const FILL = `drop table if exists numbers; create table numbers as select n from generate_series(1, ${ROWS}) n`;

export const postgresql: CompatProgram = {
  name: 'PostgreSQL',
  checks: 'create a table, sum, COPY of 100,000 rows',
  protocol: 'tcp',
  async start(kit) {
    await kit.needs({ psql: 'postgresql-client' });
    const initdb = findProgram('initdb') ?? globSync('/usr/lib/postgresql/*/bin/initdb').at(-1);
    if (initdb === undefined) throw new NotHere('not installed: initdb');
    const data = kit.makeFolder('data');
    const port = await kit.freePort();
    const unprivileged = { unprivileged: true, cwd: data };
    await kit.run([initdb, '-D', data, '-U', 'ann', '-A', 'trust', '--no-sync', '-E', 'UTF8'], unprivileged);
    const postgres = `${dirname(initdb)}/postgres`;
    await kit.serve([postgres, '-D', data, '-p', String(port), '-k', data, '-h', '127.0.0.1'], port, unprivileged);
    return {
      version: (await kit.run([postgres, '--version'])).replace(/^\D*([\d.]+)[^]*$/, '$1'),
      port,
      async check(tunnel) {
        const psql = (sql: string): Promise<string> =>
          kit.run(['psql', '-XqAt', `postgresql://ann@127.0.0.1:${tunnel.port}/postgres`, '-c', sql]);
        await psql(FILL);
        assert.equal((await psql('select sum(n) from numbers')).trim(), String((ROWS * (ROWS + 1)) / 2));
        const lines = (await psql('copy (select n from numbers order by n) to stdout')).trim().split('\n');
        assert.deepEqual([lines.length, lines.at(-1)], [ROWS, String(ROWS)]);
      },
    };
  },
};
