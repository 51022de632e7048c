/*
 * Passkeys of the browser and the devices that it knows: Web Authentication, in the JSON form of its
 * Level 3.
 */

/** Whether the browser can use passkeys at this address: they belong to a host with a name. */
export function passkeysWork(): boolean {
  const host = location.hostname;
  return (
    typeof PublicKeyCredential === "function" &&
    "parseCreationOptionsFromJSON" in PublicKeyCredential &&
    !/^[\d.]+$/.test(host) &&
    !host.startsWith("[")
  );
}

/** Why nothing came of a passkey: the user left the browser's dialog, the device has it already, or else. */
export type KeyRefusal = "left" | "known" | "failed";

type Answer = { credential: ReturnType<PublicKeyCredential["toJSON"]> } | { refusal: KeyRefusal };

/** Lets the browser make a passkey. */
export function makePasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<Answer> {
  return answerOf(() =>
    navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
    }),
  );
}

/** Lets the browser sign with a passkey. */
export function signWithPasskey(options: PublicKeyCredentialRequestOptionsJSON): Promise<Answer> {
  return answerOf(() =>
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
    }),
  );
}

async function answerOf(ask: () => Promise<Credential | null>): Promise<Answer> {
  try {
    const made = await ask();
    if (made instanceof PublicKeyCredential) return { credential: made.toJSON() };
    return { refusal: "failed" };
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    if (name === "InvalidStateError") return { refusal: "known" };
    return { refusal: name === "NotAllowedError" || name === "AbortError" ? "left" : "failed" };
  }
}
