import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, silentLog } from '../../base/log.ts';
import { VISITOR_DROPS } from '../../base/codes/drops.ts';
import { Drops } from './drops.ts';

test('a minute of drops is one line per reason, with the count and the setting to turn', () => {
  const said: Array<[string, object, string]> = [];
  const at = (level: string) => (fields: object, message: string) => void said.push([level, fields, message]);
  const log: Logger = { ...silentLog, warn: at('warn'), info: at('info'), debug: at('debug') };
  const drops = new Drops();
  drops.tell(log);
  assert.equal(said.length, 0, 'nothing has come');
  for (let n = 0; n < 512; n++) drops.add('over_address');
  drops.add('idle');
  drops.tell(log);
  assert.deepEqual(
    said.map(([level, , message]) => `${level}: ${message}`),
    [
      'warn: in the last minute 512 connections were closed: too many are open from their address or /64 network (edge.limits.max_connections_per_ip)',
      'debug: in the last minute 1 idle connections were closed (edge.limits.idle_timeout_seconds)',
    ],
  );
  drops.tell(log);
  assert.equal(said.length, 2, 'nothing has come since');
  drops.add('malformed');
  drops.tell(log);
  assert.deepEqual(said[2]?.[1], { reason: 'malformed', count: 1 });
  assert.equal(drops.get('over_address'), 512, 'counts are since the start');
  assert.deepEqual(
    Object.keys(drops.counts()),
    Object.keys(VISITOR_DROPS),
    'every reason is there, with 0 where it never came',
  );
});
