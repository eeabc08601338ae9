/** Fields for the limits of a new or existing key. */
import { NumberInput, type NumberInputProps, TagsInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { LimitValues } from './limit-values.ts';
import { namesIn } from './new-key-values.ts';

interface NamesFieldProps {
  readonly names: readonly string[];
  readonly input: ReturnType<UseFormReturnType<LimitValues>['getInputProps']>;
  readonly onNames: (names: string[]) => void;
}

export function NamesField({ names, input, onNames }: NamesFieldProps) {
  return (
    <TagsInput
      label="Allowed names"
      description="Full names, or pr-* for all names that begin with pr-. Press Enter after each. Empty: any name."
      placeholder={names.length === 0 ? 'Any name' : ''}
      splitChars={[',', ' ']}
      acceptValueOnBlur
      maxTags={100}
      {...input}
      onChange={(all) => onNames(namesIn(all))}
    />
  );
}

export function QuotaField(input: NumberInputProps) {
  return <NumberInput label="Maximum tunnels" min={1} max={1_000_000} allowDecimal={false} {...input} />;
}

export function BandwidthField(input: NumberInputProps) {
  return (
    <NumberInput
      label="Bandwidth"
      description="Both directions combined"
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      suffix=" Mbit/s"
      min={1}
      max={1_000_000}
      allowDecimal={false}
      {...input}
    />
  );
}
