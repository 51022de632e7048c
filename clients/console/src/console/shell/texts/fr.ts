import type { en } from "./en";

export const fr: typeof en = {
  palette: {
    open: "Rechercher",
    hint: "Rechercher une page, une personne, une action…",
    nothing: "Aucun résultat",
    pages: "Aller à",
    actions: "Actions",
  },
  keys: {
    title: "Raccourcis clavier",
    turn: "Semaine ou jour précédent ou suivant",
    move: "Déplacer la séance sélectionnée de 15 minutes ou d’un jour",
  },
};
