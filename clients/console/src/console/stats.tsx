/** A row of statistics: label, value, and an optional note. */
export function Stats({
  of,
}: {
  of: readonly (readonly [label: string, value: string | number, note?: string])[];
}) {
  const noted = of.some(([, , note]) => note);
  return (
    <dl className="stats">
      {of.map(([label, value, note]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
          {noted && <dd className="note">{note || "\u00a0"}</dd>}
        </div>
      ))}
    </dl>
  );
}
