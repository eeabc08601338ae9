/** `sign-up.js`, for pages with the parts of ways-in.ts: makes an account, and confirms its address with the code from the mail. */
export const SIGN_UP_SCRIPT = String.raw`import { call } from './calls.js';
import { at, onClick, onSubmit, passwordProblem, say, show, tell } from './parts.js';

/** 'goOn' takes the answer to the log-in that follows when the address is confirmed. */
export function signUp(goOn) {
  /** Whose address waits for its code; in memory alone. */
  let waiting = { email: '', password: '' };

  function askToConfirm(email, password) {
    waiting = { email, password };
    at('confirm-email').textContent = email;
    at('mail-code').value = '';
    show('confirm');
  }

  onSubmit('sign-up', async () => {
    const email = at('new-email').value;
    const password = at('new-password').value;
    const problem = passwordProblem(password);
    if (problem !== undefined) return say(problem);
    const { status, body } = await call('POST', 'auth/signup', { email, password });
    if (status !== 201) return say(body.message);
    return askToConfirm(email, password);
  });

  onSubmit('confirm', async () => {
    const { email, password } = waiting;
    const code = at('mail-code').value.replaceAll(' ', '');
    const { status, body } = await call('POST', 'auth/verify-email-otp', { email, code });
    if (status !== 200) return say(body.message);
    waiting = { email: '', password: '' };
    const answer = await call('POST', 'auth/login', { email, password });
    if (answer.status === 401) {
      show('forgot');
      return say('Your address is confirmed, but not this password: the address was signed up with another one too. Ask for a link to set one.');
    }
    show('sign-in');
    return goOn(answer);
  });

  onClick('resend', async () => {
    const { status, body } = await call('POST', 'auth/resend-verify-otp', { email: waiting.email });
    if (status !== 200) return say(body.message);
    at('mail-code').value = '';
    at('mail-code').focus();
    tell('If this address waits for a code, a new one is on its way.');
  });

  return { askToConfirm };
}
`;
