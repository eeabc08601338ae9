/** `sign-up.js`, for pages with the parts of ways-in.ts: makes an account, and confirms its address with the code from the mail. */
export const SIGN_UP_SCRIPT = String.raw`import { call } from './calls.js';
import { at, onClick, onSubmit, passwordProblem, say, show, tell } from './parts.js';

/** 'logIn' is called with address and password once the address is confirmed. */
export function signUp(logIn) {
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
    // Also when somebody else's password stands now: then the log-in says so, where it can be mended.
    show('sign-in');
    return logIn(email, password);
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
