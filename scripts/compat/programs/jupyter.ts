/** Jupyter's server: a kernel is started over the REST API and computes over a WebSocket. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type CompatProgram, REWRITE } from '../program.ts';

interface Message {
  readonly msg_type?: string;
  readonly content?: { readonly data?: Readonly<Record<string, string>> };
}

export const jupyter: CompatProgram = {
  name: 'Jupyter',
  checks: 'start a kernel, execute 1+1 over WebSocket, save a notebook',
  remedy: REWRITE,
  async start(kit) {
    const bin = await kit.pip('jupyter', ['jupyter_server', 'ipykernel']);
    const port = await kit.freePort();
    const token = 'compat';
    const command = [join(bin, 'python'), '-m', 'jupyter_server', '--allow-root', '--no-browser', `--port=${port}`];
    const home = { HOME: kit.folder, JUPYTER_RUNTIME_DIR: kit.folder };
    await kit.serve([...command, `--IdentityProvider.token=${token}`], port, { cwd: kit.folder, env: home });
    return {
      version: (await kit.run([join(bin, 'python'), '-m', 'jupyter_server', '--version'])).trim(),
      port,
      async check({ ask, socket }) {
        const page = await ask(`/login?token=${token}`);
        assert.ok(page.status < 400, `the login page: ${page.status}`);
        const headers = { authorization: `token ${token}`, 'content-type': 'application/json' };
        const started = await ask('/api/kernels', { method: 'POST', headers, body: '{"name":"python3"}' });
        assert.equal(started.status, 201, started.text.slice(0, 200));
        const { id } = JSON.parse(started.text) as { id: string };
        const kernel = socket(`/api/kernels/${id}/channels?token=${token}`);
        try {
          await kernel.opened();
          kernel.send(executeRequest('1+1'));
          const result = await kernel.until((message: Message) => message.msg_type === 'execute_result');
          assert.equal(result.content?.data?.['text/plain'], '2');
        } finally {
          kernel.close();
        }
        const file = { type: 'file', format: 'text', content: 'saved' };
        const saved = await ask('/api/contents/note.txt', { method: 'PUT', headers, body: JSON.stringify(file) });
        assert.ok([200, 201].includes(saved.status), saved.text.slice(0, 200));
        assert.equal((await ask(`/api/kernels/${id}`, { method: 'DELETE', headers })).status, 204);
      },
    };
  },
};

function executeRequest(code: string): object {
  return {
    channel: 'shell',
    header: { msg_id: randomUUID(), msg_type: 'execute_request', username: '', session: randomUUID(), version: '5.3' },
    parent_header: {},
    metadata: {},
    content: { code, silent: false, store_history: false, user_expressions: {}, allow_stdin: false },
  };
}
