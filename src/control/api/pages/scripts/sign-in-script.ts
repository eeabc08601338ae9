/**
 * `sign-in.js`, for pages with the parts of ways-in.ts: by password, with a second factor or an identity provider where there is one, or by
 * the session that the browser has.
 */
export const SIGN_IN_SCRIPT = String.raw`import { actWith, call, refresh } from './calls.js';
import { askForLink } from './forgotten.js';
import { at, clearSecrets, main, onClick, onSubmit, say, show, takeFromAddress } from './parts.js';
import { signUp } from './sign-up.js';

/** 'returnTo': where an identity provider sends the browser back to. 'then': what the page does with somebody who is signed in. */
export function waysIn({ returnTo, then }) {
  let challenge = takeFromAddress('mfa_challenge');
  let withRecoveryCode = false;
  // Thrown away: whoever wrote the link may have put in a token of their own account. The cookie says who came back from a provider.
  takeFromAddress('oauth_token');

  async function goOn({ status, body }) {
    if (status !== 200) return say(body.message);
    clearSecrets();
    if (body.mfa_required === true) {
      challenge = body.challenge_token;
      return show('second');
    }
    actWith(body.access_token);
    return then();
  }

  const { askToConfirm } = signUp(goOn);
  askForLink();

  async function logIn(email, password) {
    const answer = await call('POST', 'auth/login', { email, password });
    if (answer.body.error === 'email_not_verified') return askToConfirm(email, password);
    return goOn(answer);
  }

  /** Fills in the ways that this server has; returns why it could not. */
  async function prepare() {
    actWith(undefined);
    const { status, body } = await call('GET', 'auth/providers');
    const { providers, signup } = status === 200 ? body : { providers: [], signup: 'closed' };
    at('providers').replaceChildren(...providers.map(providerButton));
    at('providers').hidden = providers.length === 0;
    at('make-account').hidden = signup !== 'open';
    return status === 200 ? undefined : body.message;
  }

  async function ask(problem) {
    const fault = await prepare();
    show('sign-in');
    say(problem ?? fault);
  }

  function providerButton({ name, start_url: start }) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Sign in with ' + name;
    button.addEventListener('click', () => {
      const target = new URL(start);
      target.searchParams.set('return_to', returnTo);
      location.assign(target);
    });
    return button;
  }

  onSubmit('sign-in', () => logIn(at('email').value, at('password').value));

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

  return {
    /** Asks to sign in, and says why. */
    ask,
    /** To be called once, when the page is there. */
    async start() {
      if (challenge !== undefined) {
        await prepare();
        return show('second');
      }
      if (main.dataset.session !== 'live') return ask();
      const { status, body } = await refresh();
      return status === 200 ? then() : ask(body.message);
    },
    /** Ends the session, and asks to sign in; false when it goes on, for the server could not be told. */
    async leave() {
      const { status, body } = await call('POST', 'auth/logout');
      const isOver = status === 200 || status === 401;
      await (isOver ? ask() : say(body.message));
      return isOver;
    },
    /** What to do with an answer that was to be had by whoever is signed in, and is an error. */
    async refused({ status, body }) {
      if (status === 401) return ask('Your session is over. Sign in again.');
      return say(body.message);
    },
  };
}
`;
