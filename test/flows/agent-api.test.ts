/** Tunnels that a program starts and stops at the agent's page, in ngrok's shape, with a real server, agent and service. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { type PageService, startPageService } from './page-service.ts';

suite('tunnels that programs start', { timeout: 120_000 }, () => {
  const ends = inReverse({ after });
  let service: PageService;
  let port: number;

  before(async () => {
    service = await startPageService(ends);
    ({ port } = service.origin.address() as AddressInfo);
  });

  interface Said {
    readonly status: number;
    readonly body: { readonly name?: string; readonly public_url?: string; readonly msg?: string };
  }

  async function call(method: string, path: string, body?: object, headers: object = {}): Promise<Said> {
    const answer = await fetch(`${service.pageUrl}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Said['body']) };
  }
  const start = (body: object, headers?: object): Promise<Said> => call('POST', '/api/tunnels', body, headers);
  const names = async (): Promise<(string | undefined)[]> => {
    const { tunnels } = (await service.api('/api/tunnels')) as { tunnels: { name: string }[] };
    return tunnels.map(({ name }) => name);
  };

  test('one is started, serves, and is stopped, while the others serve on', async () => {
    const started = await start({ name: 'second', addr: port, proto: 'http', subdomain: 'second', bind_tls: true });
    assert.equal(started.status, 201);
    assert.equal(started.body.public_url, `http://second.localhost:${service.culvert.ports.http}`);
    const host = { headers: { host: 'second.localhost' } };
    assert.ok((await service.visit('/', host)).length > 0);
    assert.deepEqual((await names()).length, 2);
    assert.equal((await call('GET', '/api/tunnels/second')).status, 200);
    assert.equal((await start({ name: 'second', addr: port })).status, 400, 'the name is in use');
    assert.equal((await call('DELETE', '/api/tunnels/second')).status, 204);
    assert.equal((await call('DELETE', '/api/tunnels/second')).status, 404);
    assert.deepEqual((await names()).length, 1);
    assert.match((await service.visit('/', host)).toString(), /tunnel|agent/i);
    assert.ok((await service.visit('/')).length > 0);
  });

  test('what the agent or the server refuses leaves nothing behind', async () => {
    const refused: readonly (readonly [object, number, RegExp])[] = [
      [{ name: 'a b', addr: port }, 400, /"name"/],
      [{ name: 'x', addr: port, proto: 'tls' }, 400, /"proto"/],
      [{ name: 'x', addr: 'what?' }, 400, /not a valid target/],
      [{ name: 'x', addr: 'file:///etc' }, 400, /"addr"/],
      [{ name: 'x', addr: 'unix:/run/docker.sock' }, 400, /"addr"/],
      [{ name: 'x', addr: port, basic_auth: ['ann:secret'] }, 400, /"basic_auth" is not supported/],
      [{ name: 'x', addr: port, subdomain: '-no-' }, 502, /subdomain|name/i],
      [{}, 400, /"name"/],
    ];
    for (const [body, status, message] of refused) {
      const said = await start(body);
      assert.equal(said.status, status, JSON.stringify([body, said]));
      assert.match(said.body.msg ?? '', message);
    }
    assert.equal((await names()).length, 1);
    const [only = ''] = await names();
    assert.equal((await call('DELETE', `/api/tunnels/${only}`)).status, 409, 'the last one');
  });

  test('a page of another site can start and stop nothing', async () => {
    const evil = { origin: 'https://evil.example' };
    assert.equal((await start({ name: 'x', addr: port }, evil)).status, 403);
    assert.equal((await call('DELETE', '/api/tunnels/http', undefined, evil)).status, 403);
    const form = await fetch(`${service.pageUrl}/api/tunnels`, { method: 'POST', body: '{"name":"x","addr":1}' });
    assert.equal(form.status, 403);
    assert.equal((await names()).length, 1);
  });
});
