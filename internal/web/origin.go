package web

import (
	"net/http"
	"net/url"
)

// ownForms refuses a form of another site, which could be sent without the knowledge of who opens that. These forms
// use no cookies, so one without its link does nothing, but a site can know a link, such as one that it was itself
// sent. What is not from a browser passes: mail clients send one-click requests.
func ownForms(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !isSameOrigin(r) {
			http.Error(w, "Open the link in your message and answer there.", http.StatusForbidden)
			return
		}
		next(w, r)
	}
}

// isSameOrigin reports whether a form was sent from a page of this service. The page's referrer policy makes browsers
// send "null" as the origin, so the header Sec-Fetch-Site decides: http.CrossOriginProtection would refuse older
// browsers without that header. Without it, the token in the link is the only protection. No other site knows it.
func isSameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
		origin := r.Header.Get("Origin")
		from, err := url.Parse(origin)
		return origin == "" || origin == "null" || err == nil && from.Host == r.Host
	default:
		return false
	}
}
