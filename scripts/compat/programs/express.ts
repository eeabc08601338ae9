/** An Express app with `trust proxy`: JSON, what it knows of the public URL, server-sent events. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { CompatProgram } from '../program.ts';

const APP = `const app = require('express')();
app.set('trust proxy', 'loopback');
app.use(require('express').json());
app.post('/echo', (request, response) => response.json(request.body));
app.get('/where', (request, response) => response.json([request.protocol, request.hostname]));
app.get('/old', (_, response) => response.redirect('/where'));
app.get('/events', (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let n = 0; n < 3; n++) response.write(\`data: \${n}\\n\\n\`);
  response.end();
});
app.listen(Number(process.argv[2]));
`;

export const express: CompatProgram = {
  name: 'Express',
  checks: 'JSON, public scheme and host, redirect, server-sent events',
  async start(kit) {
    const modules = await kit.npm('express', ['express@5']);
    kit.write({ 'app.cjs': APP });
    const port = await kit.freePort();
    await kit.serve(['node', 'app.cjs', String(port)], port, {
      cwd: kit.folder,
      env: { NODE_PATH: join(modules, 'node_modules') },
    });
    return {
      version: kit.versionIn(modules, 'express'),
      port,
      async check({ ask, url }) {
        const headers = { 'content-type': 'application/json' };
        const body = JSON.stringify({ text: 'ä'.repeat(10_000) });
        assert.equal((await ask('/echo', { method: 'POST', headers, body })).text, body);
        assert.deepEqual(JSON.parse((await ask('/where')).text), ['https', url.hostname]);
        assert.equal((await ask('/old')).headers.location, '/where');
        assert.equal((await ask('/events')).text, 'data: 0\n\ndata: 1\n\ndata: 2\n\n');
      },
    };
  },
};
