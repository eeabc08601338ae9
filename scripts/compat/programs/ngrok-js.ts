/** ngrok's client library from npm, against the agent's page in place of ngrok's: it starts, uses and stops a second tunnel. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { CompatProgram } from '../program.ts';

const ARRIVAL_MS = 60_000;

interface NgrokTunnel {
  readonly name: string;
  readonly public_url: string;
}

interface NgrokClient {
  listTunnels(): Promise<{ tunnels: NgrokTunnel[] }>;
  startTunnel(options: object): Promise<NgrokTunnel>;
  tunnelDetail(name: string): Promise<NgrokTunnel>;
  stopTunnel(name: string): Promise<boolean>;
  listRequests(options: object): Promise<{ requests: { id: string }[] }>;
  replayRequest(id: string, tunnel: string): Promise<boolean>;
}

type Library = { readonly NgrokClient: new (url: string) => NgrokClient };

export const ngrokJs: CompatProgram = {
  name: 'ngrok client for JavaScript',
  checks: 'start, list, visit and stop a tunnel on port 4040, replay a request',
  async start(kit) {
    // Its install script downloads ngrok's agent, which is not needed.
    const modules = await kit.npm('ngrok', ['--ignore-scripts', 'ngrok@4']);
    const library = createRequire(join(modules, 'package.json'))('ngrok') as Library;
    let requests = 0;
    const service = createServer((_, response) => response.end(`visit ${++requests}`));
    const port = await kit.freePort();
    service.listen(port, '127.0.0.1');
    await once(service, 'listening');
    kit.after(() => service.close());
    return {
      version: kit.versionIn(modules, 'ngrok'),
      port,
      async check({ ask, inspectorUrl }) {
        const client = new library.NgrokClient(await inspectorUrl());
        const started = await client.startTunnel({ name: 'second', addr: port, proto: 'http' });
        assert.match((await ask(started.public_url)).text, /^visit/);
        const { tunnels } = await client.listTunnels();
        assert.equal(tunnels.length, 2);
        assert.equal((await client.tunnelDetail('second')).public_url, started.public_url);
        const [latest] = (await client.listRequests({ limit: 1, tunnel_name: 'second' })).requests;
        // The agent answers when the request is out, which may be before it is here.
        const again = once(service, 'request', { signal: AbortSignal.timeout(ARRIVAL_MS) });
        assert.ok(await client.replayRequest(latest?.id ?? '', 'second'));
        await again;
        assert.ok(await client.stopTunnel('second'));
        assert.equal((await client.listTunnels()).tunnels.length, 1);
      },
    };
  },
};
