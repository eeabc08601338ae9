/** What somebody is editing: the draft, the same as text while that is shown, and what is wrong with either. Used by policy-panel.tsx. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { failureFrom } from '../../api/failure.ts';
import { type Faults, faultsIn } from './check.ts';
import { type Draft, draftOf, isChanged, policyIn, policyOfText, textOf, withPolicy } from './draft.ts';
import type { Policy } from './kinds.ts';
import { saidOf } from './said.ts';

const NO_FAULTS: Faults = new Map();

export interface Editor {
  readonly draft: Draft;
  readonly isChanged: boolean;
  /** Somebody else has saved another policy since this one was begun. */
  readonly isOvertaken: boolean;
  /** By field. What this page finds is told once somebody has tried to save. */
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
  /** The policy when it may be sent; undefined: its faults are shown now. */
  readonly toSend: () => Policy | undefined;
  readonly refused: (error: unknown) => void;
}

/** `saved`: what the tunnel has. While nothing is changed, what is shown follows it. What is changed waits while another page is looked at. */
export function useEditor(tunnelId: string, saved: Policy | null): Editor {
  const queries = useQueryClient();
  const kept = ['policy-drafts', tunnelId];
  const [edited, show] = useState<Draft | null>(() => queries.getQueryData<Draft>(kept) ?? null);
  const setEdited = (next: Draft | null): void => {
    show(next);
    if (next === null) queries.removeQueries({ queryKey: kept });
    else queries.setQueryData<Draft>(kept, next);
  };
  const [isText, setIsText] = useState(false);
  /** Null: nothing was typed since the text was last made from the draft. */
  const [typed, setTyped] = useState<string | null>(null);
  const [textFault, setTextFault] = useState<string>();
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
      setEdited(next);
    },
    type: (text) => {
      forget();
      setTyped(text);
      const read = policyOfText(text);
      setTextFault('fault' in read ? read.fault : undefined);
      if ('policy' in read) setEdited(withPolicy(draft, read.policy));
    },
    showText: (shows) => {
      setIsText(shows);
      setTyped(null);
    },
    discard: () => {
      forget();
      setHasTried(false);
      setEdited(null);
      setTextFault(undefined);
      setTyped(null);
    },
    toSend: () => {
      setHasTried(true);
      const policy = policyIn(draft);
      return textFault === undefined && faultsIn(policy).size === 0 ? policy : undefined;
    },
    refused,
  };
}
