/** `cli.js`, the script of `/app/cli` (cli-page.ts): once somebody is signed in, approve or cancel. */
export const CLI_SCRIPT = String.raw`import { actWith, call, callSignedIn } from './calls.js';
import { at, here, main, onChange, onClick, onSubmit, say, show } from './parts.js';
import { waysIn } from './sign-in.js';

if (main.dataset.address === 'complete') {
  const deviceCode = here.searchParams.get('device_code');
  const ways = waysIn({ returnTo: '/app/cli?device_code=' + encodeURIComponent(deviceCode), then: askToApprove });

  async function askToApprove() {
    const { status, body } = await callSignedIn('GET', 'auth/me');
    if (status !== 200) return ways.ask(status === 401 ? 'Your session is over. Sign in again.' : body.message);
    at('account').textContent = body.user.email;
    at('org').textContent = body.active_org.name;
    const choices = body.orgs.map(({ id, name }) => new Option(name, id, false, id === body.active_org.id));
    at('orgs').replaceChildren(...choices);
    at('org-choice').hidden = choices.length < 2;
    at('org-line').hidden = choices.length > 1;
    show('approve');
  }

  function end(part, title) {
    at('title').textContent = title;
    at('check').hidden = true;
    // The code is used up or given up: it has no business in the history.
    history.replaceState(null, '', here.pathname);
    show(part);
  }

  onSubmit('approve', async () => {
    const answer = await callSignedIn('POST', 'auth/cli/authorize', { device_code: deviceCode });
    if (answer.status !== 200) return ways.refused(answer);
    at('label').textContent = answer.body.label;
    end('done', 'Your command line is in');
  });

  onClick('cancel', () => end('cancelled', 'Cancelled'));
  onClick('another', ways.leave);

  onChange('orgs', async () => {
    const { status, body } = await call('POST', 'auth/switch-org', { org_id: at('orgs').value });
    if (status === 200) actWith(body.access_token);
    await askToApprove();
    if (status !== 200) say(body.message);
  });

  void ways.start();
}
`;
