/** Django's development server: a login at its admin, whose form checks Host, Origin, cookie and CSRF token. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type CompatProgram, REWRITE } from '../program.ts';

const LOGIN = '/admin/login/?next=/admin/';

export const django: CompatProgram = {
  name: 'Django',
  checks: 'login at the admin: CSRF token, session cookie, redirect',
  remedy: REWRITE,
  async start(kit) {
    const python = join(await kit.pip('django', ['django']), 'python');
    const manage = (...args: string[]): string[] => [python, join(kit.folder, 'manage.py'), ...args];
    await kit.run([python, '-m', 'django', 'startproject', 'site1', kit.folder]);
    await kit.run(manage('migrate', '-v', '0'));
    await kit.run(manage('createsuperuser', '--noinput', '--username', 'ann', '--email', 'ann@example.com'), {
      env: { DJANGO_SUPERUSER_PASSWORD: 'secret' },
    });
    const port = await kit.freePort();
    await kit.serve(manage('runserver', '--noreload', String(port)), port);
    return {
      version: (await kit.run([python, '-m', 'django', '--version'])).trim(),
      port,
      async check({ ask, url }) {
        const form = await ask(LOGIN);
        assert.equal(form.status, 200, `the form: ${form.status}`);
        const [cookie = ''] = form.headers['set-cookie']?.[0]?.split(';') ?? [];
        const [, token = ''] = /name="csrfmiddlewaretoken" value="([^"]+)"/.exec(form.text) ?? [];
        const login = await ask(LOGIN, {
          method: 'POST',
          headers: {
            cookie,
            origin: url.origin,
            referer: new URL(LOGIN, url).href,
            'content-type': 'application/x-www-form-urlencoded',
          },
          body: new URLSearchParams({ csrfmiddlewaretoken: token, username: 'ann', password: 'secret' }).toString(),
        });
        assert.equal(login.status, 302, `the login: ${login.status}`);
        assert.equal(login.headers.location, '/admin/');
        const session = login.headers['set-cookie']?.map((line) => line.split(';')[0]).join('; ') ?? '';
        assert.match((await ask('/admin/', { headers: { cookie: session } })).text, /Site administration/);
      },
    };
  },
};
