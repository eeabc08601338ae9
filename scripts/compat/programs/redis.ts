/** Redis behind a tcp tunnel. */
import assert from 'node:assert/strict';
import type { CompatProgram } from '../program.ts';

export const redis: CompatProgram = {
  name: 'Redis',
  checks: 'value of 1 MB, 10,000 commands in a pipeline, benchmark with 20 clients',
  protocol: 'tcp',
  async start(kit) {
    await kit.needs({ 'redis-server': 'redis-server', 'redis-cli': 'redis-tools' });
    const port = await kit.freePort();
    await kit.serve(['redis-server', '--port', String(port), '--save', '', '--bind', '127.0.0.1'], port);
    return {
      version: (await kit.run(['redis-server', '--version'])).replace(/^.* v=(\S+)[^]*$/, '$1'),
      port,
      async check(tunnel) {
        const cli = (args: readonly string[], input = ''): Promise<string> =>
          kit.run(['redis-cli', '-p', String(tunnel.port), ...args], { input });
        const value = 'x'.repeat(1_000_000);
        assert.equal((await cli(['-x', 'set', 'large'], value)).trim(), 'OK');
        assert.equal((await cli(['get', 'large'])).trim(), value);
        await cli(['del', 'count']);
        assert.match(await cli(['--pipe'], 'INCR count\r\n'.repeat(10_000)), /errors: 0, replies: 10000/);
        assert.equal((await cli(['get', 'count'])).trim(), '10000');
        const load = ['-p', String(tunnel.port), '-q', '-c', '20', '-n', '2000', '-t', 'set,get'];
        assert.match(await kit.run(['redis-benchmark', ...load]), /GET: [\d.]+ requests per second/);
      },
    };
  },
};
