/**
 * The script of `/app/cli` (cli-page.ts), as a browser gets it: sign in, with a second factor or an identity provider where there is one, then
 * approve or cancel. It talks to this server's API alone, keeps the access token in memory, and writes what it shows as text, never as markup.
 */
export const CLI_SCRIPT = String.raw`'use strict';
(() => {
  const main = document.querySelector('main');
  if (main.dataset.code !== 'usable') return;
  const at = (id) => document.getElementById(id);
  const here = new URL(location.href);
  const api = new URL('../', here);
  const deviceCode = here.searchParams.get('device_code');
  let accessToken = take('oauth_token');
  let challenge = take('mfa_challenge');
  let withRecoveryCode = false;

  /** Reads a value out of the address and takes it from there, so that it stays in no history. */
  function take(name) {
    const value = here.searchParams.get(name);
    if (value === null) return undefined;
    here.searchParams.delete(name);
    history.replaceState(null, '', here);
    return value;
  }

  async function call(method, path, body) {
    const headers = {};
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (accessToken !== undefined) headers.authorization = 'Bearer ' + accessToken;
    try {
      const answer = await fetch(new URL(path, api), {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        credentials: 'same-origin',
        cache: 'no-store',
      });
      return { status: answer.status, body: await answer.json() };
    } catch {
      return { status: 0, body: { message: 'The server does not answer. Try again in a moment.' } };
    }
  }

  /** Another tab may be at it with the same cookie: then the server says when to come back, and the new cookie is there. */
  async function refresh() {
    const first = await call('POST', 'auth/refresh');
    const seconds = first.body.retry_after_seconds;
    if (first.status !== 401 || seconds === undefined) return first;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    return call('POST', 'auth/refresh');
  }

  const PARTS = ['loading', 'sign-in', 'second', 'approve', 'done', 'cancelled'];
  function show(part) {
    for (const id of PARTS) at(id).hidden = id !== part;
    const field = at(part).querySelector('input');
    (field ?? at(part)).focus();
  }

  function say(problem) {
    at('problem').textContent = problem ?? '';
    at('problem').hidden = problem === undefined;
  }

  /** Runs a deed of the person; meanwhile no button takes another. */
  async function busy(deed) {
    const controls = [...main.querySelectorAll('button, select')].filter((control) => !control.disabled);
    for (const control of controls) control.disabled = true;
    say();
    try {
      await deed();
    } finally {
      for (const control of controls) control.disabled = false;
    }
  }

  function end(part, title) {
    at('title').textContent = title;
    at('check').hidden = true;
    // The code is used up or given up: it has no business in the history.
    history.replaceState(null, '', here.pathname);
    show(part);
  }

  async function askToSignIn(problem) {
    accessToken = undefined;
    const { status, body } = await call('GET', 'auth/providers');
    const providers = status === 200 ? body.providers : [];
    const buttons = providers.map(({ name, start_url: start }) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = 'Sign in with ' + name;
      button.addEventListener('click', () => {
        const target = new URL(start);
        target.searchParams.set('return_to', '/app/cli?device_code=' + encodeURIComponent(deviceCode));
        location.assign(target);
      });
      return button;
    });
    at('providers').replaceChildren(...buttons);
    at('providers').hidden = buttons.length === 0;
    show('sign-in');
    say(problem);
  }

  async function askToApprove() {
    const { status, body } = await call('GET', 'auth/me');
    if (status !== 200) return askToSignIn(status === 401 ? 'Your session is over. Sign in again.' : body.message);
    at('account').textContent = body.user.email;
    at('org').textContent = body.active_org.name;
    const choices = body.orgs.map(({ id, name }) => new Option(name, id, false, id === body.active_org.id));
    at('orgs').replaceChildren(...choices);
    at('org-choice').hidden = choices.length < 2;
    at('org-line').hidden = choices.length > 1;
    show('approve');
  }

  async function goOn({ status, body }) {
    if (status !== 200) return say(body.message);
    at('password').value = '';
    at('code').value = '';
    if (body.mfa_required === true) {
      challenge = body.challenge_token;
      return show('second');
    }
    accessToken = body.access_token;
    return askToApprove();
  }

  async function authorize() {
    const first = await call('POST', 'auth/cli/authorize', { device_code: deviceCode });
    if (first.status !== 401) return first;
    // The access token lives 15 minutes, and the page may have been open for longer.
    accessToken = undefined;
    const again = await refresh();
    if (again.status !== 200) return first;
    accessToken = again.body.access_token;
    return call('POST', 'auth/cli/authorize', { device_code: deviceCode });
  }

  function onSubmit(id, deed) {
    at(id).addEventListener('submit', (event) => {
      event.preventDefault();
      void busy(deed);
    });
  }

  function onClick(id, deed) {
    at(id).addEventListener('click', () => void busy(deed));
  }

  onSubmit('sign-in', async () => {
    await goOn(await call('POST', 'auth/login', { email: at('email').value, password: at('password').value }));
  });

  onSubmit('second', async () => {
    const typed = at('code').value.trim();
    const proof = withRecoveryCode ? { recovery_code: typed } : { code: typed.replaceAll(' ', '') };
    await goOn(await call('POST', 'auth/login/mfa', { challenge_token: challenge, ...proof }));
  });

  onClick('other-factor', () => {
    withRecoveryCode = !withRecoveryCode;
    at('code-label').textContent = withRecoveryCode ? 'One of your recovery codes' : 'Code of your authenticator app';
    at('other-factor').textContent = withRecoveryCode ? 'Use the authenticator app' : 'Use a recovery code';
    at('code').inputMode = withRecoveryCode ? 'text' : 'numeric';
    at('code').value = '';
    at('code').focus();
  });

  onSubmit('approve', async () => {
    const { status, body } = await authorize();
    if (status === 401) return askToSignIn('Your session is over. Sign in again.');
    if (status !== 200) return say(body.message);
    at('label').textContent = body.label;
    end('done', 'Your command line is in');
  });

  onClick('cancel', () => end('cancelled', 'Cancelled'));

  onClick('another', async () => {
    await call('POST', 'auth/logout');
    await askToSignIn();
  });

  at('orgs').addEventListener('change', () => {
    void busy(async () => {
      const { status, body } = await call('POST', 'auth/switch-org', { org_id: at('orgs').value });
      if (status === 200) accessToken = body.access_token;
      else say(body.message);
      await askToApprove();
    });
  });

  async function start() {
    if (challenge !== undefined) return show('second');
    if (accessToken === undefined && main.dataset.session === 'live') {
      const { status, body } = await refresh();
      if (status === 200) accessToken = body.access_token;
    }
    await (accessToken === undefined ? askToSignIn() : askToApprove());
  }

  void start();
})();
`;
