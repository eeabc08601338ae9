/** An MQTT broker behind a tcp tunnel: publisher and subscriber both come through it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { CompatProgram } from '../program.ts';

export const mqtt: CompatProgram = {
  name: 'MQTT (Mosquitto)',
  checks: 'publish with QoS 2, subscribe, message of 100 KB',
  protocol: 'tcp',
  async start(kit) {
    await kit.needs({ mosquitto: 'mosquitto', mosquitto_pub: 'mosquitto-clients' });
    const port = await kit.freePort();
    kit.write({ 'mosquitto.conf': `listener ${port} 127.0.0.1\nallow_anonymous true\n` });
    await kit.serve(['mosquitto', '-c', join(kit.folder, 'mosquitto.conf')], port);
    return {
      version: /mosquitto version (\S+)/.exec(await kit.run(['mosquitto', '-h']).catch(String))?.[1] ?? '',
      port,
      async check(tunnel) {
        const place = ['-h', '127.0.0.1', '-p', String(tunnel.port), '-q', '2', '-t', 'compat'];
        const message = 'x'.repeat(100_000);
        // Retained: the subscriber need not be there first.
        await kit.run(['mosquitto_pub', ...place, '-r', '-s'], { input: message });
        assert.equal((await kit.run(['mosquitto_sub', ...place, '-C', '1', '-W', '30'])).trim(), message);
      },
    };
  },
};
