/** `home.js`, the script of `/app/` (home-page.ts): who is signed in, where, and how to go on. */
export const HOME_SCRIPT = String.raw`import { callSignedIn, server } from './calls.js';
import { at, onClick, show, tell } from './parts.js';
import { waysIn } from './sign-in.js';

const ways = waysIn({ returnTo: '/app/', then: greet });

const APPROVAL = {
  approved: undefined,
  pending: 'An operator of this server has to approve your organization before it can publish anything.',
  suspended: 'Your organization is suspended: it can publish nothing. Ask an operator of this server.',
};

async function greet() {
  const { status, body } = await callSignedIn('GET', 'auth/me');
  if (status !== 200) return ways.ask(status === 401 ? 'Your session is over. Sign in again.' : body.message);
  at('account').textContent = body.user.email;
  at('orgs').replaceChildren(...body.orgs.map(row));
  const approval = APPROVAL[body.active_org.approval_status];
  at('approval').textContent = approval ?? '';
  at('approval').hidden = approval === undefined;
  at('login-command').textContent = 'culvert login --server ' + server;
  show('home');
}

function row({ name, role }) {
  const item = document.createElement('li');
  const title = document.createElement('strong');
  const note = document.createElement('span');
  title.textContent = name;
  note.textContent = role;
  note.className = 'quiet';
  item.append(title, ' ', note);
  return item;
}

onClick('sign-out', async () => {
  if (await ways.leave()) tell('You are signed out.');
});

void ways.start();
`;
