/** A Flask app: form, session cookie, redirect, streamed response. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { CompatProgram } from '../program.ts';

const APP = `from flask import Flask, Response, redirect, request, session, url_for
app = Flask(__name__)
app.secret_key = "compat"

@app.post("/login")
def login():
    session["user"] = request.form["user"]
    return redirect(url_for("hello"))

@app.get("/hello")
def hello():
    return "hello " + session["user"]

@app.get("/stream")
def stream():
    return Response((f"{n}\\n" for n in range(1000)), mimetype="text/plain")
`;

export const flask: CompatProgram = {
  name: 'Flask',
  checks: 'form, session cookie, redirect, streamed response',
  async start(kit) {
    const python = join(await kit.pip('flask', ['flask']), 'python');
    kit.write({ 'app.py': APP });
    const port = await kit.freePort();
    await kit.serve([python, '-m', 'flask', 'run', '--port', String(port)], port, { cwd: kit.folder });
    const [, version = ''] = /^Flask (\S+)$/m.exec(await kit.run([python, '-m', 'flask', '--version'])) ?? [];
    return {
      version,
      port,
      async check({ ask }) {
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        const login = await ask('/login', { method: 'POST', headers, body: 'user=ann' });
        assert.deepEqual([login.status, login.headers.location], [302, '/hello']);
        const cookie = login.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
        assert.equal((await ask('/hello', { headers: { cookie } })).text, 'hello ann');
        assert.equal((await ask('/stream')).text, Array.from({ length: 1000 }, (_, n) => `${n}\n`).join(''));
      },
    };
  },
};
