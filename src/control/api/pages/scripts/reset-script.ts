/** `reset.js`, the script of `/app/reset` (reset-page.ts): a new password with the token of the link, or a new link. */
export const RESET_SCRIPT = String.raw`import { call } from './calls.js';
import { askForLink } from './forgotten.js';
import { at, clearSecrets, onSubmit, passwordProblem, say, show, takeFromAddress } from './parts.js';

const token = takeFromAddress('token');
askForLink();

function askForAnother(problem) {
  clearSecrets();
  show('forgot');
  say(problem);
}

onSubmit('reset', async () => {
  const password = at('new-password').value;
  const problem = passwordProblem(password);
  if (problem !== undefined) return say(problem);
  if (password !== at('again').value) return say('The two passwords are not the same.');
  const { status, body } = await call('POST', 'auth/reset', { token, new_password: password });
  if (body.error === 'invalid_code') return askForAnother('This link was used already, or has run out.');
  if (status !== 200) return say(body.message);
  clearSecrets();
  show('done');
});

if (token) show('reset');
else askForAnother('The address of this page is not complete: open the whole link of the mail, or ask for a new one.');
`;
