/** pyngrok, ngrok's client library for Python, against the agent's page in place of ngrok's. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { CompatProgram } from '../program.ts';

/** What `ngrok.connect`, `get_tunnels` and `disconnect` send, without the agent of ngrok that these would start. */
const SCRIPT = `import sys
from pyngrok import ngrok
page, port, action = sys.argv[1:]
tunnels = page + "/api/tunnels"
if action == "start":
    options = {"name": "second", "addr": "http://localhost:" + port, "proto": "http"}
    print(ngrok.api_request(tunnels, method="POST", data=options)["public_url"])
else:
    assert len(ngrok.api_request(tunnels)["tunnels"]) == 2
    ngrok.api_request(tunnels + "/second", method="DELETE")
    assert len(ngrok.api_request(tunnels)["tunnels"]) == 1
`;

export const pyngrok: CompatProgram = {
  name: 'pyngrok',
  checks: 'start, list, visit and stop a tunnel on port 4040',
  async start(kit) {
    const python = join(await kit.pip('pyngrok', ['pyngrok']), 'python');
    kit.write({ 'client.py': SCRIPT });
    const service = createServer((_, response) => response.end('hello'));
    const port = await kit.freePort();
    service.listen(port, '127.0.0.1');
    await once(service, 'listening');
    kit.after(() => service.close());
    return {
      version: (await kit.run([python, '-c', 'import pyngrok; print(pyngrok.__version__)'])).trim(),
      port,
      async check({ ask, inspectorUrl }) {
        const page = await inspectorUrl();
        const client = (action: string): Promise<string> =>
          kit.run([python, join(kit.folder, 'client.py'), page, String(port), action]);
        const url = (await client('start')).trim();
        assert.equal((await ask(url)).text, 'hello');
        await client('stop');
      },
    };
  },
};
