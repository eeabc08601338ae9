/** The page at `/app/cli`, where a person lets their command line in. Its script: scripts/cli-script.ts. */
import { checkPhrase, DEVICE_CODE } from '../../../wire/check-phrase.ts';
import { MESSAGES, type PageFacts, pageDocument } from './document.ts';
import { waysIn } from './ways-in.ts';

export function cliPage(facts: PageFacts): string {
  const deviceCode = facts.query('device_code');
  const usable = deviceCode !== undefined && DEVICE_CODE.test(deviceCode) ? checkPhrase(deviceCode) : undefined;
  const page = {
    title: 'Command line log-in',
    script: 'cli.js',
    complete: usable !== undefined,
    body: usable === undefined ? MISSING : toApprove(usable),
  };
  return pageDocument(page, facts);
}

const MISSING = `<h1>This address is not complete</h1>
<p>Run <code>culvert login</code> and open the whole address that it prints.</p>`;

function toApprove(phrase: string): string {
  return `<h1 id="title">Let a command line in?</h1>
<section class="phrase" id="check">
<p>Your terminal shows these three words:</p>
<p class="words">${phrase}</p>
<p class="quiet">If it shows others, or you did not run <code>culvert login</code> just now, close this page: somebody else sent you here.</p>
</section>
${MESSAGES}
${waysIn('h2', 'Sign in first')}

<form id="approve" method="post" tabindex="-1" data-part hidden>
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

<section id="done" tabindex="-1" data-part hidden>
<p>Your terminal goes on by itself; you can close this page.</p>
<p class="quiet">The key is called <span id="label"></span>. <code>culvert logout</code> ends it.</p>
</section>
<section id="cancelled" tabindex="-1" data-part hidden>
<p>The command line gets nothing. You can close this page, and stop it with Ctrl-C.</p>
</section>`;
}
