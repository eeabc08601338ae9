/** The agent's own page beside a real server, agent and service, as programs see it. In a browser: agent-page-browser.test.ts. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { inReverse } from '../harness/ends.ts';
import { missing, run } from '../harness/tools.ts';
import { type PageService, startPageService } from './page-service.ts';

suite("the agent's own page", { timeout: 240_000 }, () => {
  const ends = inReverse({ after });
  let service: PageService;

  before(async () => {
    service = await startPageService(ends);
  });

  test('what scripts for ngrok ask for is there', { skip: missing('curl') }, async () => {
    const { stdout } = await run(['curl', '-s', `${service.pageUrl}/api/tunnels`]);
    const { tunnels } = JSON.parse(stdout) as { tunnels: { public_url: string; proto: string }[] };
    assert.equal(tunnels[0]?.public_url, `http://shop.localhost:${service.culvert.ports.http}`);
    assert.equal(tunnels[0]?.proto, 'http');
    assert.equal((await fetch(`${service.pageUrl}/readyz`)).status, 200);
  });

  test('megabytes pass unchanged, both ways at once, while it looks on', async () => {
    const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    const bodies = Array.from({ length: 4 }, () => randomBytes(5_000_000));
    const answers = await Promise.all(bodies.map((body) => service.visit('/echo/big', { method: 'POST', body })));
    assert.deepEqual(answers.map(hash), bodies.map(hash));
    const { requests } = (await service.api('/api/requests/http?limit=4')) as { requests: { id: string }[] };
    for (const { id } of requests) {
      const { request_size, response_size, request_body } = await service.api(`/api/requests/http/${id}`);
      assert.deepEqual([request_size, response_size], [5_000_000, 5_000_000]);
      assert.equal((request_body as { kept: number }).kept, 65_536);
    }
    assert.match(
      await (await fetch(`${service.pageUrl}/metrics`)).text(),
      /^culvert_agent_page_streams_let_go_total 0$/m,
    );
  });

  test('requests to a service that is down are in the list, with the reason, and counted', async () => {
    const closed = createTcpServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const agent = service.culvert.agent(['http', String(port), '--subdomain', 'dead', '--json', '--inspect-port', '0']);
    await agent.printed(/"tunnel_online"/);
    const url = /"inspector_online".*"url":"([^"]+)"/.exec(agent.output)?.[1] ?? '';
    await service.visit('/', { headers: { host: 'dead.localhost' } });
    await service.visit('/hook', { method: 'POST', body: 'hello', headers: { host: 'dead.localhost' } });
    const reason = `localhost:${port} refused the connection`;
    const { requests } = (await (await fetch(`${url}/api/requests/http`)).json()) as {
      requests: { request: { method: string; uri: string }; response: { status_code: number }; fault: string }[];
    };
    assert.deepEqual(
      requests.map(({ request: { method, uri }, response, fault }) => [method, uri, response.status_code, fault]),
      [
        ['POST', '/hook', 502, reason],
        ['GET', '/', 502, reason],
      ],
    );
    const numbers = await (await fetch(`${url}/metrics`)).text();
    assert.match(numbers, /^culvert_agent_requests_total\{tunnel="http",status="5xx"\} 2$/m);
    assert.equal(await agent.stop(), 0);
  });

  test('a port that is taken is no reason to stop', async () => {
    const blocker = createTcpServer();
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
    ends.after(() => blocker.close());
    const { port } = blocker.address() as AddressInfo;
    const target = String((service.origin.address() as AddressInfo).port);
    const agent = service.culvert.agent([
      'http',
      target,
      '--subdomain',
      'next',
      '--json',
      '--inspect-port',
      String(port),
    ]);
    await agent.printed(/"tunnel_online"/);
    const url = /"inspector_online".*"url":"([^"]+)"/.exec(agent.output)?.[1];
    if (url !== undefined) assert.notEqual(new URL(url).port, String(port));
    assert.equal(await agent.stop(), 0);
  });
});
