/** State of the editor: the draft, its text while that is shown, and the faults of either. Used by policy-editor.tsx. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { failureFrom } from '../../api/failure.ts';
import { type Faults, faultsIn, saidOf } from './check.ts';
import {
  type Draft,
  draftOf,
  isChanged,
  policyIn,
  policyOfText,
  type Read,
  rebased,
  textOf,
  withPolicy,
} from './draft.ts';
import type { Policy } from './kinds.ts';

const NO_FAULTS: Faults = new Map();

export interface Editor {
  readonly draft: Draft;
  readonly isChanged: boolean;
  /** Another member has saved a policy since this draft was begun. */
  readonly isOvertaken: boolean;
  /** By field. Faults found here are shown after the first attempt to save. */
  readonly faults: Faults;
  /** What the server has said that belongs to no field. */
  readonly trouble: string | undefined;
  /** Null: forms are shown. */
  readonly text: string | null;
  readonly textFault: string | undefined;
  readonly edit: (draft: Draft) => void;
  readonly type: (text: string) => void;
  readonly showText: (shows: boolean) => void;
  /** Back to what is saved. */
  readonly discard: () => void;
  /** This was saved. What was changed since it was sent stays, as changes of it. */
  readonly settled: (sent: Policy) => void;
  /** The policy when it may be sent; undefined: its faults are shown now. */
  readonly toSend: () => Policy | undefined;
  readonly refused: (error: unknown) => void;
}

/** What waits while another page is looked at. */
interface Kept {
  readonly draft: Draft | null;
  /** Text that can't be read yet. */
  readonly typed: string | undefined;
}

/** `saved`: what the tunnel has. While nothing is changed, what is shown follows it. What is changed waits while another page is looked at. */
export function useEditor(tunnelId: string, saved: Policy | null): Editor {
  const queries = useQueryClient();
  const key = ['policy-drafts', tunnelId];
  const [before] = useState(() => queries.getQueryData<Kept>(key));
  const [edited, show] = useState<Draft | null>(before?.draft ?? null);
  const keep = (kept: Kept): void => {
    show(kept.draft);
    if (kept.draft === null && kept.typed === undefined) {
      queries.removeQueries({ queryKey: key });
      return;
    }
    // Nothing observes it: without this it would be forgotten after five minutes.
    queries.setQueryDefaults(['policy-drafts'], { gcTime: Number.POSITIVE_INFINITY });
    queries.setQueryData<Kept>(key, kept);
  };
  const [isText, setIsText] = useState(before?.typed !== undefined);
  /** Null: nothing was typed since the text was last made from the draft. */
  const [typed, setTyped] = useState<string | null>(before?.typed ?? null);
  const [textFault, setTextFault] = useState<string | undefined>(() =>
    before?.typed === undefined ? undefined : faultOf(policyOfText(before.typed)),
  );
  const [hasTried, setHasTried] = useState(false);
  const [said, setSaid] = useState<{ faults: Faults; rest: string | undefined }>({
    faults: NO_FAULTS,
    rest: undefined,
  });
  const draft = edited ?? draftOf(saved);
  const isDraftChanged = edited !== null && isChanged(edited);

  const forget = (): void => {
    setSaid({ faults: NO_FAULTS, rest: undefined });
  };
  const discard = (): void => {
    forget();
    setHasTried(false);
    keep({ draft: null, typed: undefined });
    setTextFault(undefined);
    setTyped(null);
  };
  const refused = (error: unknown): void => {
    const { code, message } = failureFrom(error);
    setSaid(code === 'bad_policy' ? saidOf(message) : { faults: NO_FAULTS, rest: message });
  };
  return {
    draft,
    isChanged: isDraftChanged || textFault !== undefined,
    isOvertaken: isDraftChanged && edited.base !== textOf(saved),
    faults: new Map([...(hasTried ? faultsIn(policyIn(draft)) : NO_FAULTS), ...said.faults]),
    trouble: said.rest,
    text: isText ? (typed ?? textOf(policyIn(draft))) : null,
    textFault,
    edit: (next) => {
      forget();
      keep({ draft: next, typed: undefined });
    },
    type: (text) => {
      forget();
      setTyped(text);
      const read = policyOfText(text);
      setTextFault(faultOf(read));
      keep(
        'policy' in read ? { draft: withPolicy(draft, read.policy), typed: undefined } : { draft: edited, typed: text },
      );
    },
    showText: (shows) => {
      setIsText(shows);
      setTyped(null);
    },
    discard,
    settled: (sent) => {
      const kept = queries.getQueryData<Kept>(key);
      const now = kept?.draft ?? null;
      if (now === null || kept === undefined) return discard();
      const left = rebased(now, sent);
      if (kept.typed === undefined && left === null) discard();
      else keep({ ...kept, draft: left });
    },
    toSend: () => {
      setHasTried(true);
      const policy = policyIn(draft);
      return textFault === undefined && faultsIn(policy).size === 0 ? policy : undefined;
    },
    refused,
  };
}

function faultOf(read: Read): string | undefined {
  return 'fault' in read ? read.fault : undefined;
}
