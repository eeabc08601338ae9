/** `invite.js`, the script of `/app/invite` (invite-page.ts): once somebody is signed in, they accept. */
export const INVITE_SCRIPT = String.raw`import { callSignedIn } from './calls.js';
import { at, here, main, onClick, onSubmit, say, show } from './parts.js';
import { waysIn } from './sign-in.js';

if (main.dataset.address === 'complete') {
  // It stays in the address until it is used, for the way over an identity provider and back, and is kept nowhere else.
  const token = here.searchParams.get('token');
  const ways = waysIn({ returnTo: '/app/invite?token=' + encodeURIComponent(token), then: askToAccept });

  async function askToAccept() {
    const { status, body } = await callSignedIn('GET', 'auth/me');
    if (status !== 200) return ways.ask(status === 401 ? 'Your session is over. Sign in again.' : body.message);
    at('account').textContent = body.user.email;
    show('accept');
  }

  function end(part, title) {
    at('title').textContent = title;
    at('invited').hidden = true;
    history.replaceState(null, '', here.pathname);
    show(part);
  }

  onSubmit('accept', async () => {
    const answer = await callSignedIn('POST', 'orgs/invitations/accept', { token });
    const { status, body } = answer;
    if (status === 200) {
      at('org').textContent = body.name;
      at('role').textContent = body.role;
      return end('joined', 'You are in');
    }
    if (status === 403) {
      return say('You are signed in as ' + at('account').textContent + '. ' + body.message);
    }
    if (status === 404) end('ended', 'This invitation is over');
    if (body.error === 'conflict') end('ended', 'The invitation was not used');
    return ways.refused(answer);
  });

  onClick('another', ways.leave);

  void ways.start();
}
`;
