/**
 * The page at `/app/cli`, where a person lets their command line in. Plain HTML with a script and a style of its own (cli-script.ts,
 * cli-style.ts), nothing inline and nothing from another host, so that the policy can forbid all of that. What is filled in here are words
 * of our own list and two facts; everything that comes from elsewhere is put in by the script as text.
 */
import { checkPhrase, DEVICE_CODE } from '../../../wire/check-phrase.ts';

export const CLI_PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  // Without its script the form would send the password in the address.
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface CliPageFacts {
  /** As it stands in the address; may be anything. */
  readonly deviceCode: string | undefined;
  /** The browser holds a live session: the page need not ask for a password. */
  readonly signedIn: boolean;
}

/** Addresses are relative to the page, for it is served under `/api` too. */
export function cliPage({ deviceCode, signedIn }: CliPageFacts): string {
  const isUsable = deviceCode !== undefined && DEVICE_CODE.test(deviceCode);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Command line log-in - Culvert</title>
<link rel="stylesheet" href="cli.css">
<link rel="icon" href="data:,">
<script src="cli.js" defer></script>
</head>
<body>
<main data-code="${isUsable ? 'usable' : 'missing'}" data-session="${signedIn ? 'live' : 'none'}">
<p class="brand">Culvert</p>
${isUsable ? usable(checkPhrase(deviceCode)) : MISSING}
<noscript><p class="alert">This page needs JavaScript.</p></noscript>
</main>
</body>
</html>
`;
}

const MISSING = `<h1>This address is not complete</h1>
<p>Run <code>culvert login</code> and open the whole address that it prints.</p>`;

function usable(phrase: string): string {
  return `<h1 id="title">Let a command line in?</h1>
<section class="phrase" id="check">
<p>Your terminal shows these three words:</p>
<p class="words">${phrase}</p>
<p class="quiet">If it shows others, or you did not run <code>culvert login</code> just now, close this page: somebody else sent you here.</p>
</section>
<p class="alert" id="problem" role="alert" hidden></p>
<p class="quiet" id="loading">One moment …</p>

<form id="sign-in" method="post" hidden>
<h2>Sign in first</h2>
<label for="email">E-mail address</label>
<input id="email" name="email" type="text" inputmode="email" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="320">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024">
<button type="submit" class="main">Sign in</button>
<div id="providers" hidden></div>
</form>

<form id="second" method="post" hidden>
<h2>Second factor</h2>
<label for="code" id="code-label">Code of your authenticator app</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required maxlength="64">
<button type="submit" class="main">Go on</button>
<button type="button" class="link" id="other-factor">Use a recovery code</button>
</form>

<form id="approve" method="post" tabindex="-1" hidden>
<p>Signed in as <strong id="account"></strong></p>
<p id="org-line">Organization <strong id="org"></strong></p>
<p id="org-choice" hidden><label for="orgs">Organization</label><select id="orgs"></select></p>
<p>Until <code>culvert logout</code>, it may</p>
<ul>
<li>publish local ports on any name of the organization, for 90 days,</li>
<li>act as you: see and change what you see and change here.</li>
</ul>
<button type="submit" class="main">Approve</button>
<button type="button" id="cancel">Cancel</button>
<button type="button" class="link" id="another">Use another account</button>
</form>

<section id="done" tabindex="-1" hidden>
<p>Your terminal goes on by itself; you can close this page.</p>
<p class="quiet">The key is called <span id="label"></span>. <code>culvert logout</code> ends it.</p>
</section>
<section id="cancelled" tabindex="-1" hidden>
<p>The command line gets nothing. You can close this page, and stop it with Ctrl-C.</p>
</section>`;
}
