/** PHP's built-in web server: an upload, a session, a redirect. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { CompatProgram } from '../program.ts';

const SCRIPT = `<?php
session_save_path(__DIR__);
session_start();
if (isset($_FILES['photo'])) {
  $_SESSION['sum'] = hash_file('sha256', $_FILES['photo']['tmp_name']);
  header('Location: /index.php');
} else {
  echo $_SESSION['sum'] ?? 'nothing yet';
}
`;

export const php: CompatProgram = {
  name: 'PHP (built-in server)',
  checks: 'upload of 1 MB, session cookie, redirect',
  async start(kit) {
    await kit.needs({ php: 'php-cli' });
    kit.write({ 'index.php': SCRIPT });
    const port = await kit.freePort();
    await kit.serve(['php', '-S', `localhost:${port}`], port, { cwd: kit.folder });
    return {
      version: await kit.run(['php', '-r', 'echo PHP_VERSION;']),
      port,
      async check({ ask }) {
        const photo = randomBytes(1_000_000);
        const form = new FormData();
        form.set('photo', new Blob([photo]), 'photo.jpg');
        const sent = new Response(form);
        const headers = { 'content-type': sent.headers.get('content-type') ?? '' };
        const upload = await ask('/', { method: 'POST', headers, body: Buffer.from(await sent.arrayBuffer()) });
        assert.deepEqual([upload.status, upload.headers.location], [302, '/index.php'], upload.text);
        const cookie = upload.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
        const page = await ask('/index.php', { headers: { cookie } });
        assert.equal(page.text, createHash('sha256').update(photo).digest('hex'));
      },
    };
  },
};
