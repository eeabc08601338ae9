/** Requests of a whole server on their way to collectors: the operator's, and one of an organization. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Collector, type LogRecord } from '../../src/control/organizations/export/testing.ts';
import { startCulvert, startOrigin } from '../harness.ts';

const SOON_MS = 20_000;

async function requestsOf(collector: Collector, path: string): Promise<LogRecord> {
  for (const until = Date.now() + SOON_MS; ; await pause(50)) {
    const found = collector.logs().find(({ attributes }) => attributes['url.path'] === path);
    if (found !== undefined) return found;
    assert.ok(Date.now() < until, `no record of ${path} came`);
  }
}

test('export: a request reaches the collectors of server and organization, with the trace that its service got', async (t) => {
  const [ofServer, ofOrg] = [await Collector.start(t), await Collector.start(t)];
  const seen: string[] = [];
  const { port } = await startOrigin(t, (request, response) => {
    seen.push(String(request.headers['traceparent']));
    response.end('hello');
  });
  const culvert = await startCulvert(
    t,
    `[export.otlp]\nendpoint = "${ofServer.url}"\nsignals = ["logs"]`,
    'allow_private_jwks = true',
  );
  const { url } = await culvert.publish('http', port, { subdomain: 'shop' });
  const orgs = (await culvert.account.call('GET', '/orgs')).body as unknown as Array<{ id: string }>;
  const path = `/orgs/${orgs[0]?.id}/export`;
  const put = await culvert.account.call('PUT', path, {
    events: ['requests', 'security'],
    otlp: { endpoint: ofOrg.url },
    webhook: null,
  });
  assert.equal(put.status, 200, JSON.stringify(put.body));
  await culvert.get(`${url}/a`);
  for (const collector of [ofServer, ofOrg]) {
    const record = await requestsOf(collector, '/a');
    assert.deepEqual(
      [record.eventName, record.attributes['culvert.tunnel'], record.attributes['http.response.status_code']],
      ['culvert.request', 'shop', 200],
    );
    assert.equal(record.traceId, seen[0]?.split('-')[1]);
  }
  const audit = ofServer.logs().map(({ attributes }) => attributes['culvert.action']);
  assert.ok(audit.includes('org.export'));
  const { body } = await culvert.account.call('GET', path);
  const { otlp } = body['status'] as { otlp: { sent: number } };
  assert.ok(otlp.sent > 0);
});
