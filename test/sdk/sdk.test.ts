/** The package `culvert` against a real server: `forward`, `listen`, their events and errors. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';
import { Hono } from 'hono';
import { WebSocket, WebSocketServer } from 'ws';
import {
  CulvertError,
  type ErrorCode,
  forward,
  listen,
  type TunnelRequest,
  type TunnelStatus,
} from '../../src/sdk/index.ts';
import { http2Origin } from '../../src/agent/http2/testing.ts';
import { startCulvert, startOrigin } from '../harness.ts';
import { freePorts } from '../harness/config.ts';

async function fails(run: Promise<unknown>, code: ErrorCode, message: RegExp): Promise<void> {
  await assert.rejects(run, (error: unknown) => {
    assert.ok(error instanceof CulvertError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
}

suite('the package for programs', { concurrency: true }, () => {
  test('forward publishes a local port, tells of requests, and ends', async (t) => {
    const culvert = await startCulvert(t);
    const origin = await startOrigin(t, (request, response) => response.end(`hello ${request.url}`));
    const server = culvert.server.apiUrl;
    const tunnel = await forward({ to: origin.port, name: 'shop', server, token: culvert.token });
    const states: TunnelStatus[] = [];
    tunnel.on('status', (status) => states.push(status));
    const seen = new Promise<TunnelRequest>((resolve) => void tunnel.on('request', resolve));
    assert.match(tunnel.url, /^http:\/\/shop\./);
    assert.equal((await culvert.get(`${tunnel.url}/a?b=c`)).body, 'hello /a?b=c');
    const { method, path, status } = await seen;
    assert.deepEqual({ method, path, status }, { method: 'GET', path: '/a?b=c', status: 200 });
    const { body } = await culvert.account.call('GET', `/tunnels/${tunnel.id}`);
    assert.equal(body['public_url'] ?? body['publicUrl'], tunnel.url);
    await tunnel.close();
    await tunnel.close();
    assert.deepEqual(
      states.map(({ state }) => state),
      ['closed'],
    );
    assert.equal((await culvert.get(tunnel.url)).status, 503);
  });

  test('forward publishes several services behind one URL', async (t) => {
    const culvert = await startCulvert(t);
    const origin = (name: string) => startOrigin(t, (_, response) => response.end(name));
    const [api, root] = [await origin('api'), await origin('root')];
    const options = { server: culvert.server.apiUrl, token: culvert.token };
    const routes = [{ path: '/api', to: api.port }];
    await using tunnel = await forward({ to: root.port, routes, ...options });
    assert.equal((await culvert.get(`${tunnel.url}/api/x`)).body, 'api');
    assert.equal((await culvert.get(`${tunnel.url}/apiary`)).body, 'root');
    await using alone = await forward({ routes, ...options });
    assert.equal((await culvert.get(`${alone.url}/x`)).code, 'tunnel_not_found');
    await fails(forward({ routes: [{ path: 'api', to: 1 }], ...options }), 'usage', /"api" is not a path such as/);
    await fails(forward({ routes, protocol: 'tcp', ...options }), 'usage', /a tcp tunnel has no paths/);
    // @ts-expect-error A program in JavaScript can leave both out.
    await fails(forward(options), 'usage', /is not a valid target/);
  });

  test('forward reaches a service over HTTP/2', async (t) => {
    const culvert = await startCulvert(t);
    const origin = await http2Origin(t, (stream) => {
      stream.respond({ ':status': 200 });
      stream.end('h2');
    });
    const options = { to: origin.port, server: culvert.server.apiUrl, token: culvert.token };
    await using tunnel = await forward({ ...options, upstreamProtocol: 'http2' });
    assert.equal((await culvert.get(tunnel.url)).body, 'h2');
    const wrong = 'h2c' as 'http2';
    await fails(forward({ ...options, upstreamProtocol: wrong }), 'usage', /http1, http2 or auto/);
    await fails(forward({ ...options, upstreamProtocol: 'auto', protocol: 'tcp' }), 'usage', /http and https tunnels/);
  });

  test('listen publishes a function, a server with WebSockets and an app with fetch, without a port', async (t) => {
    const culvert = await startCulvert(t);
    const options = { server: culvert.server.apiUrl, token: culvert.token };
    const http = createServer((_, response) => response.end('server'));
    new WebSocketServer({ server: http }).on('connection', (socket) => {
      socket.on('message', (bytes: Buffer) => socket.send(`got ${bytes.toString()}`));
    });
    const hono = new Hono().post('/echo', async (c) => c.text((await c.req.text()).toUpperCase(), 201));
    await using byFunction = await listen((_, response) => response.end('function'), options);
    await using byServer = await listen(http, options);
    await using byFetch = await listen(hono, options);
    assert.equal((await culvert.get(byFunction.url)).body, 'function');
    assert.equal((await culvert.get(byServer.url)).body, 'server');
    assert.equal(http.listening, false);

    const host = new URL(byServer.url).host;
    const socket = new WebSocket(`ws://127.0.0.1:${culvert.httpPort}/`, { headers: { host } });
    await once(socket, 'open');
    socket.send('one');
    const [answer] = (await once(socket, 'message')) as [Buffer];
    assert.equal(answer.toString(), 'got one');
    socket.terminate();

    const post = request(`http://127.0.0.1:${culvert.httpPort}/echo`, {
      method: 'POST',
      headers: { host: new URL(byFetch.url).host },
    });
    const [echoed] = (await once(post.end('word'), 'response')) as [IncomingMessage];
    assert.equal(echoed.statusCode, 201);
    assert.equal(await text(echoed), 'WORD');
    const { body } = await culvert.get(`${byFetch.url}/none`);
    assert.equal(body, '404 Not Found');
  });

  test('errors say by their code what failed', async (t) => {
    const culvert = await startCulvert(t);
    const server = culvert.server.apiUrl;
    const { token } = culvert;
    await fails(forward({ to: 'not a target', server, token }), 'usage', /not a valid target/);
    await fails(forward({ to: 3000, server, token: 'a b' }), 'usage', /token: is not an access key/);
    await fails(forward({ to: 3000, name: 'x', protocol: 'tcp', server, token }), 'usage', /tcp tunnel/);
    await fails(listen({} as never, { server, token }), 'usage', /request listener/);
    await fails(forward({ to: 3000, server, token: 'mtk_unknownunknownunknown' }), 'unauthorized', /key/);
    await fails(forward({ to: 3000, name: '-bad-', server, token }), 'refused', /name|subdomain/i);
    const none = `http://127.0.0.1:${(await freePorts()).http}`;
    await fails(forward({ to: 3000, server: none, token, timeoutMs: 300 }), 'timeout', /300 ms: .*refused/i);
    await fails(forward({ to: 3000, server: none, token, signal: AbortSignal.timeout(100) }), 'aborted', /signal/);
    await fails(forward({ to: 3000, server, token, signal: AbortSignal.abort() }), 'aborted', /before it began/);
  });

  test('gates and host of a tunnel are those of the flags', async (t) => {
    const culvert = await startCulvert(t);
    const origin = await startOrigin(t, (request, response) => response.end(`${request.headers.host} ${request.url}`));
    const options = { to: origin.port, server: culvert.server.apiUrl, token: culvert.token };
    const secret = ['new', 's3cret'];
    await using tunnel = await forward({
      ...options,
      name: 'shop',
      hostHeader: 'app.local',
      pathPrefix: '/app',
      basicAuth: { user: 'ann', password: 'pw' },
      denyCidr: '192.0.2.0/24',
      ttl: '2h',
      policy: { actions: [{ kind: 'deny', path_prefix: '/admin' }] },
      webhookVerify: { kind: 'github', secret },
    });
    const { body } = await culvert.account.call('GET', `/tunnels/${tunnel.id}`);
    const { ends_at: _endsAt, ...shown } = body['setByAgent'] as Record<string, unknown>;
    assert.deepEqual(shown, {
      deny_cidr: ['192.0.2.0/24'],
      basic_auth: 'ann',
      policy: ['deny'],
      webhook_verify: 'github',
    });
    assert.equal((await culvert.get(tunnel.url.replace('//', '//ann:pw@'))).code, 'invalid_signature');
    const signature = `sha256=${createHmac('sha256', 's3cret').update('').digest('hex')}`;
    const asked = request(`http://127.0.0.1:${culvert.httpPort}/a`, {
      headers: { host: new URL(tunnel.url).host, 'x-hub-signature-256': signature },
      auth: 'ann:pw',
    });
    const [response] = (await once(asked.end(), 'response')) as [IncomingMessage];
    assert.deepEqual([response.statusCode, await text(response)], [200, 'app.local /app/a']);
    await using open = await listen((_, answer) => answer.end('app'), {
      server: options.server,
      token: options.token,
      denyCidr: ['127.0.0.0/8', '::1'],
    });
    assert.equal((await culvert.get(open.url)).code, 'denied');
  });

  test('a mistake in an option names it, and nothing is published', async () => {
    const wrong = (options: object, message: RegExp) =>
      fails(forward({ to: 3000, server: 'http://127.0.0.1:9', token: 'x'.repeat(20), ...options }), 'usage', message);
    await wrong({ allowCidr: '10.0.0.0/33' }, /^allowCidr: "10\.0\.0\.0\/33" is no IP address/);
    await wrong({ ttl: '2' }, /^ttl: "2" is no time/);
    await wrong({ hostHeader: 'a b' }, /^hostHeader: "a b" is not rewrite/);
    await wrong({ pathPrefix: 'a' }, /^pathPrefix: /);
    await wrong({ basicAuth: { user: 'a:b', password: 'x' } }, /^basicAuth: the user name has a colon/);
    await wrong({ webhookVerify: { kind: 'magic', secret: 'x' } }, /^webhookVerify: "magic" is none of/);
    await wrong({ webhookVerify: { kind: 'github', secret: [] } }, /^webhookVerify: secret has no secret/);
    await wrong({ webhookVerify: { secret: 'x' } }, /^webhookVerify: needs a kind and a secret/);
    await wrong(
      { webhookVerify: { kind: 'github', secret: [undefined] } },
      /^webhookVerify: needs a kind and a secret/,
    );
    await wrong({ protocol: 'tcp', policy: { actions: [] } }, /^policy: is for http and https tunnels only/);
  });

  test('a signal ends a tunnel, and a listener that throws ends nothing', async (t) => {
    const culvert = await startCulvert(t);
    const stop = new AbortController();
    const options = { server: culvert.server.apiUrl, token: culvert.token, signal: stop.signal };
    const tunnel = await listen((_, response) => response.end('here'), options);
    assert.equal((await culvert.get(tunnel.url)).body, 'here');
    const closed = new Promise<TunnelStatus>((resolve) => void tunnel.on('status', resolve));
    stop.abort();
    assert.equal((await closed).state, 'closed');
  });
});
