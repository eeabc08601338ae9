/** MariaDB behind a tcp tunnel: the server speaks first. */
import assert from 'node:assert/strict';
import type { CompatProgram } from '../program.ts';

const FILL = 'create or replace table test.numbers as select seq as n from test.seq_1_to_100000';

export const mariadb: CompatProgram = {
  name: 'MariaDB',
  checks: 'create a table, sum and read 100,000 rows',
  protocol: 'tcp',
  async start(kit) {
    await kit.needs({ mariadbd: 'mariadb-server', mariadb: 'mariadb-client' });
    const data = kit.makeFolder('data');
    const unprivileged = { unprivileged: true, cwd: data };
    const port = await kit.freePort();
    await kit.run(['mariadb-install-db', '--no-defaults', `--datadir=${data}`, '--skip-test-db'], unprivileged);
    const place = [`--datadir=${data}`, `--port=${port}`, `--socket=${data}/socket`, '--bind-address=127.0.0.1'];
    await kit.serve(['mariadbd', '--no-defaults', '--skip-grant-tables', ...place], port, unprivileged);
    return {
      version: (await kit.run(['mariadbd', '--version'])).replace(/^.* Ver ([\d.]+)[^]*$/, '$1'),
      port,
      async check(tunnel) {
        const place = ['--no-defaults', '-h', '127.0.0.1', '-P', String(tunnel.port), '--protocol=tcp', '-N'];
        const query = (sql: string): Promise<string> => kit.run(['mariadb', ...place, '-e', sql]);
        await query(`create database if not exists test; ${FILL}`);
        assert.equal((await query('select sum(n) from test.numbers')).trim(), '5000050000');
        assert.equal((await query('select n from test.numbers')).trim().split('\n').length, 100_000);
      },
    };
  },
};
